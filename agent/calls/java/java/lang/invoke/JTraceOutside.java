package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What calls out of scope cost (S4.2): the clock around those whose time depends on others, the
 * elements that others get, and reads of descriptor 0, which wait for the user.
 *
 * <p>The clock runs from a timed call to the thread's next probe: to the call's end, or to the
 * entry of a method that it calls back. The token of such a method has {@link #TIMED_CALLER}: its
 * exit starts the clock again. So a moment is never charged twice, and a call that an exception
 * leaves ends at the handler's probe.
 */
final class JTraceOutside {
  /** In a token: the clock ran when the activation began. Nodes are aligned. */
  static final long TIMED_CALLER = 1;

  private static final long ARENA = JTraceProbe.ARENA;
  private static final int NANOS_INDEX = JTraceCharges.indexOf(JTraceCharges.OUTSIDE_NANOS);
  private static final int ELEMENTS_INDEX = JTraceCharges.indexOf(JTraceCharges.OUTSIDE_ELEMENTS);

  /** Whether the clock is read at all. */
  static final boolean TIMED = NANOS_INDEX >= 0;

  private static final Unsafe U = Unsafe.getUnsafe();
  private static final long FD_NUMBER = U.objectFieldOffset(FileDescriptor.class, "fd");

  private JTraceOutside() {}

  /** The thread's current node is that of a timed call. */
  @DontInline
  static void begin(long state) {
    if (state == ARENA) {
      return; // that of many threads
    }
    long now = System.nanoTime();
    U.putLong(state + STATE_CALL_START, now == 0 ? 1 : now);
  }

  @ForceInline
  static boolean isRunning(long state) {
    return U.getLong(state + STATE_CALL_START) != 0;
  }

  /** The time since the clock began to run belongs to {@code node}. */
  @DontInline
  static void stop(long state, long node) {
    long now = System.nanoTime();
    long start = U.getLong(state + STATE_CALL_START);
    U.putLong(state + STATE_CALL_START, 0);
    // A call may have begun in an earlier recording.
    long recording = U.getLong(ARENA + ARENA_RECORDING_START);
    long took = now - (recording - start > 0 ? recording : start);
    add(state, node, JTraceCharges.OUTSIDE_NANOS, NANOS_INDEX, took);
  }

  /** For an activation that ends. Returns the token as enter would have without a clock. */
  @ForceInline
  static long leave(long state, long token) {
    if (isRunning(state)) {
      stop(state, U.getLong(state + STATE_CURRENT));
    }
    if ((token & TIMED_CALLER) == 0) {
      return token;
    }
    begin(state);
    return token & ~TIMED_CALLER;
  }

  /** A call whose elements are counted has begun. */
  @DontInline
  static void addElements(long state, int count) {
    if (ELEMENTS_INDEX >= 0 && count > 0 && state != ARENA) {
      long node = U.getLong(state + STATE_CURRENT);
      add(state, node, JTraceCharges.OUTSIDE_ELEMENTS, ELEMENTS_INDEX, count);
    }
  }

  /** Of an array or a String; of anything else 0. */
  static int elementsOf(Object of) {
    if (of instanceof String) {
      return ((String) of).length();
    }
    return of != null && of.getClass().isArray() ? Array.getLength(of) : 0;
  }

  /** Whether a read of it waits for the user: {@code of} is a stream, or its descriptor. */
  static boolean isInput(Object of) {
    try {
      Object fd = of instanceof FileInputStream ? ((FileInputStream) of).getFD() : of;
      return fd instanceof FileDescriptor && U.getInt(fd, FD_NUMBER) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static void add(long state, long node, int metric, int index, long amount) {
    long cum = U.getLong(state + STATE_COUNTERS) + COUNTS + ((long) metric << 3);
    U.putLong(cum, U.getLong(cum) + amount);
    long at = (long) index << 3;
    long charged = U.getLong(state + STATE_METRICS) + at;
    U.putLong(charged, U.getLong(charged) + amount);
    long base = node + JTraceCharges.NODE_METRICS + at;
    U.putLong(base, U.getLong(base) + amount);
  }
}
