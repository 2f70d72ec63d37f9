// options codes=+each-alloc
package cases;

import java.lang.reflect.Constructor;

/** Allocates known numbers of objects of known sizes, each in one line of one method. */
public final class Allocations {
  private static final int SMALL = 3_000;
  private static final int PAIRS = 500;
  private static final int ARRAYS = 400;
  private static final int TABLES = 60;
  private static final int REFLECTED = 40;
  private static final int THREADS = 3;

  /** No object is left out: each is reachable for a moment. */
  private static volatile Object sink;

  /** 12 bytes of header, 4 of the field. */
  static final class Small {
    int value;

    Small() {}
  }

  /** 12 bytes of header, 4 and 4 of the references, 8 of the number, 4 of padding. */
  static final class Pair {
    Object left;
    Object right;
    long number;
  }

  private static void small() {
    sink = new Small();
  }

  private static void pair() {
    sink = new Pair();
  }

  /** 16 bytes of header, 40 of content; the copy is the JVM's. */
  private static void array() {
    sink = new int[10];
    sink = ((int[]) sink).clone();
  }

  /** 16 and 12 bytes, padded to 32; 16 and 40 each of three times. */
  private static void table() {
    sink = new long[3][5];
  }

  private static void reflected(Constructor<Small> constructor)
      throws ReflectiveOperationException {
    sink = constructor.newInstance();
  }

  private static void all() {
    try {
      for (int i = 0; i < SMALL; i++) small();
      for (int i = 0; i < PAIRS; i++) pair();
      for (int i = 0; i < ARRAYS; i++) array();
      for (int i = 0; i < TABLES; i++) table();
      Constructor<Small> constructor = Small.class.getDeclaredConstructor();
      for (int i = 0; i < REFLECTED; i++) reflected(constructor);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    all();
    for (int i = 1; i < THREADS; i++) {
      Thread thread = new Thread(Allocations::all);
      thread.start();
      thread.join();
    }
    String own = "cases.Allocations.";
    System.out.println("EXPECT " + THREADS * SMALL + " " + own + "small()");
    System.out.println("EXPECT " + THREADS * TABLES + " " + own + "table()");
    allocated(SMALL, 16, own + "small()", "cases.Allocations$Small");
    allocated(PAIRS, 32, own + "pair()", "cases.Allocations$Pair");
    allocated(2 * ARRAYS, 56, own + "array()", "[I");
    allocated(TABLES, 32, own + "table()", "[[J");
    allocated(3 * TABLES, 56, own + "table()", "[J");
    allocated(
        REFLECTED, 16, own + "reflected(Constructor)", "cases.Allocations$Small");
  }

  /** For AllocationsTest: objects, bytes of each, the method, the class. */
  private static void allocated(int objects, int bytes, String method, String type) {
    System.out.println(
        "ALLOCATED " + THREADS * objects + " " + bytes + " " + method + " " + type);
  }
}
