package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The probes of a JVM in which they are from its start and rest until a recording begins
 * (probes=resting): those of {@link JTraceProbe}, behind a test of the arena's word that says
 * whether to count. Only for counts of calls: record=flat, or record=tree without a clock.
 *
 * <p>An activation that began while they rested has token 0, and its end changes nothing; one that
 * began while they counted always restores its caller's node.
 */
public final class JTraceResting {
  static final long ARENA = JTraceProbe.ARENA;
  private static final long COUNTS = ARENA + ARENA_COUNTS;
  private static final Unsafe U = Unsafe.getUnsafe();
  private static final int ROUND = 2000;
  private static final long MOST_NANOS = 100_000_000;

  private JTraceResting() {}

  /** Not constant, nor constant in a loop: code that counts stores to memory like this. */
  @ForceInline
  private static boolean rests() {
    return U.getInt(null, COUNTS) == 0;
  }

  @ForceInline
  public static long enter(int id) {
    return rests() ? 0 : JTraceProbe.enter(id);
  }

  @ForceInline
  public static void exit(long token) {
    if (token != 0) {
      JTraceProbe.exit(token);
    }
  }

  @DontInline
  public static void exitThrown(long token) {
    if (token != 0) {
      JTraceProbe.exit(token);
    }
  }

  @DontInline
  public static void resume(long token, int id) {
    if (token != 0) {
      JTraceProbe.resume(token, id);
    }
  }

  @ForceInline
  public static void leaf(int id) {
    if (!rests()) {
      JTraceProbe.leaf(id);
    }
  }

  @ForceInline
  public static void count(int id) {
    if (!rests()) {
      JTraceProbe.count(id);
    }
  }

  /**
   * Runs every branch of the probes both ways, before a class has them. C2 leaves out of its code
   * what has never run, and would discard the code of all methods at once when the first recording
   * begins. What is counted here is older than any recording. Ends when C2 has compiled the round,
   * so that the interpreter's and C1's counts of branches are there.
   */
  static void warm() {
    long end = System.nanoTime() + MOST_NANOS;
    while (!round() && System.nanoTime() < end) {
      // The next one may run in code of a better compiler.
    }
    U.putInt(null, COUNTS, 0);
  }

  /** Returns whether it is C2's code. */
  @DontInline
  private static boolean round() {
    for (int i = 0; i < ROUND; i++) {
      U.putInt(null, COUNTS, i & 1);
      if ((i & 30) == 0) {
        JTraceCurrent.forget();
      }
      if (JTraceProbe.FLAT) {
        // Both are counters of routine 0, which is none: the thread's, and the shared one.
        count((i & 6) != 0 ? 0 : COMPILED_COUNT);
      } else {
        // Eight children, for which there is one slot: most are not in it.
        int id = 1 + ((i & 14) << 15);
        exit(enter(id));
        leaf(id);
      }
    }
    return JTraceProbe.isC2();
  }
}
