package cases;

/** Constructors that throw before, in and after super(…), and static initialisers that throw. */
public final class ThrowingConstructors {
  static class Base {
    Base(int n) {
      if (n % 3 == 1) throw new IllegalArgumentException("in super");
    }
  }

  static final class Derived extends Base {
    Derived(int n) {
      super(check(n));
      if (n % 3 == 2) throw new IllegalStateException("after super");
    }
  }

  static final class Broken {
    static final int VALUE = fail();

    private static int fail() {
      throw new IllegalStateException("static initialiser");
    }
  }

  private static int check(int n) {
    if (n % 5 == 0) throw new ArithmeticException("before super");
    return n;
  }

  private static void attempt(int n) {
    try {
      after(new Derived(n));
    } catch (IllegalArgumentException | IllegalStateException | ArithmeticException expected) {
      caught(expected);
    }
  }

  private static void after(Derived made) {}

  private static void caught(RuntimeException why) {}

  public static void main(String[] args) {
    int rounds = 30_000;
    for (int i = 0; i < rounds; i++) attempt(i);
    int errors = 0;
    for (int i = 0; i < 2; i++) {
      try {
        System.out.println(Broken.VALUE);
      } catch (ExceptionInInitializerError | NoClassDefFoundError expected) {
        errors++;
      }
    }
    // Of 15 consecutive numbers, 12 pass check(); of these 4 each throw in super, after it, or not.
    System.out.println("errors " + errors);
    System.out.println("EXPECT 30000 cases.ThrowingConstructors.attempt(int)");
    System.out.println("EXPECT 30000 cases.ThrowingConstructors.check(int)");
    System.out.println("EXPECT 30000 cases.ThrowingConstructors$Derived.<init>(int)");
    System.out.println("EXPECT 24000 cases.ThrowingConstructors$Base.<init>(int)");
    System.out.println("EXPECT 8000 cases.ThrowingConstructors.after(ThrowingConstructors$Derived)");
    System.out.println("EXPECT 22000 cases.ThrowingConstructors.caught(RuntimeException)");
    System.out.println("EXPECT 1 cases.ThrowingConstructors$Broken.fail()");
    System.out.println("EXPECT 1 cases.ThrowingConstructors$Broken.<clinit>()");
  }
}
