package programs;

import java.util.BitSet;

/**
 * Calls of a Java method, and as many more when its compiled code has become invalid. Arguments:
 * calls of each part, the class that makes it invalid. Also flips a thousand bits.
 */
public final class HookedMethods {
  private HookedMethods() {}

  /** A base class whose only loaded implementor the compiled code relies on. */
  abstract static class Step {
    abstract long of(long x);
  }

  static final class One extends Step {
    @Override
    long of(long x) {
      return x + 1;
    }
  }

  /** Loaded late: compiled code that calls One directly becomes invalid. */
  static final class Two extends Step {
    Two() {}

    @Override
    long of(long x) {
      return x + 2;
    }
  }

  static long hooked(Step step, long x) {
    return step.of(x) * 3;
  }

  private static long early(long calls, Step step) {
    long sum = 0;
    for (long i = 0; i < calls; i++) sum += hooked(step, i);
    return sum;
  }

  private static long late(long calls, Step step) {
    long sum = 0;
    for (long i = 0; i < calls; i++) sum += hooked(step, i);
    return sum;
  }

  public static void main(String[] args) throws Exception {
    long calls = Long.parseLong(args[0]);
    long sum = 0;
    // In many pieces, so that the loops' callers are compiled too.
    for (int i = 0; i < 1000; i++) sum += early(calls / 1000, new One());
    BitSet bits = new BitSet();
    for (int i = 0; i < 1000; i++) bits.flip(i);
    Step two = (Step) Class.forName(args[1]).getDeclaredConstructor().newInstance();
    for (int i = 0; i < 1000; i++) sum += late(calls / 1000, two);
    System.out.println(sum);
  }
}
