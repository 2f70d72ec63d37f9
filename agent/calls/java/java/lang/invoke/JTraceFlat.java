package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** record=flat: counters by routine, each thread's own or shared. */
final class JTraceFlat {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceFlat() {}

  @DontInline
  static void countElsewhere(int id) {
    count(id);
  }

  @ForceInline
  static void count(int id) {
    long offset = JTraceCurrent.knownOffset();
    // The arena itself, and the shared state, come before those of threads.
    if (id >= FLAT_IDS || offset <= ARENA_SHARED) {
      countMissed(id, JTraceProbe.jitted(id));
    } else {
      countOwn(offset, id, JTraceProbe.jitted(id));
    }
  }

  @DontInline
  private static void countMissed(int id, boolean jitted) {
    long state = JTraceCurrent.state();
    if (id >= FLAT_IDS || state == ARENA + ARENA_SHARED) {
      countShared(id, jitted);
    } else {
      countOwn(state - ARENA, id, jitted);
    }
  }

  /** All but the offset of the thread's state is constant in code of C2. */
  @ForceInline
  private static void countOwn(long offset, int id, boolean jitted) {
    long counter = offset + (ARENA + FLAT_COUNTERS + ((long) id << 4) + (jitted ? 8 : 0));
    U.putLong(null, counter, U.getLong(null, counter) + 1);
  }

  static void countShared(int id, boolean jitted) {
    long counter = ARENA + ARENA_SHARED + FLAT_COUNTERS + ((long) (id & (COMPILED_COUNT - 1)) << 4);
    U.getAndAddLong(null, counter + (jitted ? 8 : 0), 1);
  }
}
