import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

/** Programs whose compiled code has a flaw that the JVM decides about, and their counterparts. */
public final class FindingsOfCode {
  private static final int CALLS = 3_600_000;
  private static int result;

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "three-classes" -> Shapes.run(new Shape[] {new Circle(), new Square(), new Line()});
      case "one-class" -> Shapes.run(new Shape[] {new Circle(), new Circle(), new Circle()});
      case "big-method" -> Sizes.runBig();
      case "small-method" -> Sizes.runSmall();
      case "changed-site" -> Sites.run(true);
      case "same-site" -> Sites.run(false);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.out.println("done " + (result == 0 ? 0 : 1));
  }

  interface Shape {
    int area(int size);
  }

  static final class Circle implements Shape {
    @Override
    public int area(int size) {
      return 3 * size * size;
    }
  }

  static final class Square implements Shape {
    @Override
    public int area(int size) {
      return size * size;
    }
  }

  static final class Line implements Shape {
    @Override
    public int area(int size) {
      return size & 1;
    }
  }

  static final class Shapes {
    static void run(Shape[] shapes) {
      for (int i = 0; i < CALLS / 1000; i++) result += sum(shapes, i);
    }

    static int sum(Shape[] shapes, int size) {
      int sum = 0;
      for (int i = 0; i < 1000; i++) sum += shapes[i % shapes.length].area(size);
      return sum;
    }
  }

  static final class Sizes {
    static void runBig() {
      for (int i = 0; i < CALLS / 1000; i++) result += sumBig(i);
    }

    static void runSmall() {
      for (int i = 0; i < CALLS / 1000; i++) result += sumSmall(i);
    }

    static int sumBig(int size) {
      int sum = 0;
      for (int i = 0; i < 1000; i++) sum += big(size + i);
      return sum;
    }

    static int sumSmall(int size) {
      int sum = 0;
      for (int i = 0; i < 1000; i++) sum += small(size + i);
      return sum;
    }

    static int small(int x) {
      return x * 31 + 7;
    }

    // More bytecode than HotSpot inlines (FreqInlineSize, 325 bytes).
    static int big(int x) {
      int y = x * 31 + 7;
      y = (y ^ y << 3) + (y >>> 5) * 3 + (y & 255) * 7 - (y | 15) + (x ^ 1001) * 5 + (x >>> 3);
      y = (y ^ y << 5) + (y >>> 7) * 5 + (y & 511) * 9 - (y | 31) + (x ^ 1003) * 7 + (x >>> 4);
      y = (y ^ y << 7) + (y >>> 9) * 7 + (y & 127) * 3 - (y | 63) + (x ^ 1005) * 9 + (x >>> 5);
      y = (y ^ y << 9) + (y >>> 3) * 9 + (y & 1023) * 5 - (y | 7) + (x ^ 1007) * 3 + (x >>> 6);
      y = (y ^ y << 3) + (y >>> 5) * 3 + (y & 255) * 7 - (y | 15) + (x ^ 1009) * 5 + (x >>> 7);
      y = (y ^ y << 5) + (y >>> 7) * 5 + (y & 511) * 9 - (y | 31) + (x ^ 1011) * 7 + (x >>> 8);
      y = (y ^ y << 7) + (y >>> 9) * 7 + (y & 127) * 3 - (y | 63) + (x ^ 1013) * 9 + (x >>> 9);
      y = (y ^ y << 9) + (y >>> 3) * 9 + (y & 1023) * 5 - (y | 7) + (x ^ 1015) * 3 + (x >>> 2);
      y = (y ^ y << 3) + (y >>> 5) * 3 + (y & 255) * 7 - (y | 15) + (x ^ 1017) * 5 + (x >>> 1);
      return y;
    }
  }

  /** Compiled code assumes a call site's target: it is discarded whenever that changes. */
  static final class Sites {
    private static final MethodType TYPE = MethodType.methodType(int.class, int.class);
    private static final MutableCallSite SITE = new MutableCallSite(TYPE);
    private static final MethodHandle CALL = SITE.dynamicInvoker();

    static void run(boolean changes) throws Exception {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      MethodHandle[] targets = {
        lookup.findStatic(Sites.class, "twice", TYPE), lookup.findStatic(Sites.class, "next", TYPE)
      };
      SITE.setTarget(targets[0]);
      for (int round = 1; round <= 30; round++) {
        for (int i = 0; i < 100; i++) result += sum(i);
        if (changes) SITE.setTarget(targets[round % 2]);
      }
    }

    static int sum(int seed) throws Exception {
      int sum = seed;
      for (int i = 0; i < 160_000; i++) sum = apply(sum + i);
      return sum;
    }

    static int apply(int x) throws Exception {
      try {
        return (int) CALL.invokeExact(x) * 31 ^ x >>> 3;
      } catch (Throwable failure) {
        throw new Exception(failure);
      }
    }

    static int twice(int x) {
      return x * 2;
    }

    static int next(int x) {
      return x + 1;
    }
  }
}
