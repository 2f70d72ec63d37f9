package programs;

import java.util.concurrent.TimeUnit;

/**
 * Native functions that end in a jump to another one, directly or by a pointer. Arguments: library,
 * calls of each. Calls that are counted begin when the agent has seen where calls return to, or at
 * once if there is a third argument. Prints whether it has.
 */
public final class HookedTails {
  private static final long PATIENCE_S = 60;

  private HookedTails() {}

  static native long direct(long x);

  static native long indirect(long x);

  /** Whether the agent has seen where both return to. */
  static native boolean areReturnsAwaited();

  private static boolean callUntilAwaited() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    while (!areReturnsAwaited() && System.nanoTime() < end) {
      direct(1);
      indirect(1);
    }
    return areReturnsAwaited();
  }

  private static void counted(int calls) {
    for (int i = 0; i < calls; i++) {
      if (direct(i) != 5L * (i + 1) || indirect(i) != 5L * (i + 2)) throw new AssertionError();
    }
  }

  public static void main(String[] args) {
    System.load(args[0]);
    System.out.println(args.length > 2 || callUntilAwaited() ? "awaited" : "not awaited");
    counted(Integer.parseInt(args[1]));
  }
}
