package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.reference;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/** The state of the thread that runs. */
final class JTraceCurrent {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final long THREAD_SPARE = JTraceProbe.THREAD_SPARE;
  private static final Unsafe U = Unsafe.getUnsafe();
  private static final long TID = U.objectFieldOffset(Thread.class, "tid");

  /**
   * Thread id to state: low 32 bits of the id, reference of its state. One long, so that entries
   * are replaced atomically when ids collide; on the heap, so that the JIT knows that stores to the
   * trees do not change it.
   */
  private static final long[] STATES = new long[4096];

  static {
    // Zero would be a valid entry of thread id 0, which threads have until their constructor ran.
    STATES[0] = 1L << 32;
  }

  private JTraceCurrent() {}

  /**
   * The thread's state, or the arena's, if it is not known yet. That one is at the sink node, which
   * has no children. A thread whose entry of STATES another one has taken is not known either.
   */
  @ForceInline
  static long knownState() {
    return ARENA + knownOffset();
  }

  /** The offset of that state from the arena. */
  @ForceInline
  static long knownOffset() {
    return THREAD_SPARE != 0 ? U.getLong(Thread.currentThread(), THREAD_SPARE) : offsetById();
  }

  @ForceInline
  private static long offsetById() {
    long tid = U.getLong(Thread.currentThread(), TID);
    long entry = STATES[(int) tid & (STATES.length - 1)] - (tid << 32);
    return (entry >>> 32) == 0 ? entry << GRANULE_SHIFT : 0;
  }

  /** The thread's next probe finds its state as that of a thread that is not known. */
  static void forget() {
    Thread thread = Thread.currentThread();
    if (THREAD_SPARE != 0) {
      U.putLong(thread, THREAD_SPARE, 0);
    } else {
      int entry = (int) U.getLong(thread, TID) & (STATES.length - 1);
      STATES[entry] = entry == 0 ? 1L << 32 : 0;
    }
  }

  @ForceInline
  static long state() {
    Thread thread = Thread.currentThread();
    if (THREAD_SPARE != 0) {
      long state = U.getLong(thread, THREAD_SPARE);
      return state != 0 ? ARENA + state : findState(U.getLong(thread, TID));
    }
    long tid = U.getLong(thread, TID);
    // Its upper half is 0 exactly if the entry is this thread's.
    long entry = STATES[(int) tid & (STATES.length - 1)] - (tid << 32);
    return (entry >>> 32) == 0 ? ARENA + (entry << GRANULE_SHIFT) : findState(tid);
  }

  private static long findState(long tid) {
    long state = JTraceThreads.find(tid);
    if (tid == 0 || state == ARENA) {
      // Once there is an id, or memory, the thread gets a state.
      return state;
    }
    if (THREAD_SPARE != 0) {
      U.putLong(Thread.currentThread(), THREAD_SPARE, state - ARENA);
    } else {
      STATES[(int) tid & (STATES.length - 1)] = (tid << 32) | reference(state) & 0xFFFFFFFFL;
    }
    return state;
  }
}
