package cases;

/** Switches, loops, nested and overlapping handlers, finally, synchronized: every kind of exit. */
public final class ControlFlow {
  private static final int ROUNDS = 10_000;
  private static int state;

  private static int dense(int n) {
    switch (n) {
      case 0: return leaf(1);
      case 1: return leaf(2) + leaf(3);
      case 2: break;
      default: return leaf(4);
    }
    return 0;
  }

  private static int sparse(String n) {
    switch (n) {
      case "a": return leaf(1);
      case "zebra": return leaf(2);
      default: return 0;
    }
  }

  private static int nested(int n) {
    int sum = 0;
    try {
      try {
        sum += thrower(n);
      } catch (IllegalStateException e) {
        sum += leaf(5);
        throw e;
      } finally {
        sum += leaf(6);
      }
    } catch (RuntimeException e) {
      return sum + leaf(7);
    } finally {
      state++;
    }
    return sum;
  }

  private static int thrower(int n) {
    if (n % 3 == 1) throw new IllegalStateException();
    if (n % 3 == 2) throw new IllegalArgumentException();
    return n;
  }

  private static synchronized int locked(int n) {
    if (n % 2 == 0) throw new UnsupportedOperationException();
    return leaf(n);
  }

  private static int leaf(int n) {
    return n;
  }

  private static void swallow(Runnable body) {
    try {
      body.run();
    } catch (UnsupportedOperationException expected) {
      state++;
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
      sum += dense(i % 4);
      sum += sparse(i % 2 == 0 ? "a" : "b");
      sum += nested(i % 3);
      int n = i;
      swallow(() -> locked(n));
    }
    System.out.println("sum " + sum);
    int third = ROUNDS / 3;
    int ones = (ROUNDS + 1) / 3;
    int dense = ROUNDS / 4 * (1 + 2 + 0 + 1);
    int nested = ROUNDS + ones + ones + third;  // finally always; catch; outer catch of both
    int leaves = dense + ROUNDS / 2 + nested + ROUNDS / 2;
    System.out.println("EXPECT " + ROUNDS + " cases.ControlFlow.dense(int)");
    System.out.println("EXPECT " + ROUNDS + " cases.ControlFlow.sparse(String)");
    System.out.println("EXPECT " + ROUNDS + " cases.ControlFlow.nested(int)");
    System.out.println("EXPECT " + ROUNDS + " cases.ControlFlow.thrower(int)");
    System.out.println("EXPECT " + ROUNDS + " cases.ControlFlow.locked(int)");
    System.out.println("EXPECT " + ROUNDS + " cases.ControlFlow.swallow(Runnable)");
    System.out.println("EXPECT " + leaves + " cases.ControlFlow.leaf(int)");
  }
}
