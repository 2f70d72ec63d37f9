package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * record=log: a record for every entry and exit, in a ring of the thread that the agent's writer
 * thread empties (agent/hot/event_ring.h is the same layout for C++).
 *
 * <p>A record is one word, 0 until it is written, so that a single store publishes it; the reader
 * writes 0 back. It takes 4 bytes, or 8 with a time of its own. Where the reader cannot keep up there
 * is a <em>gap</em>: calls are counted in the tree instead, until the thread stands again where the
 * log left off, or in an ancestor of it; the exits that lead there follow the gap. So the log stays
 * balanced, and log and tree together are exact at any time. When the log is stopped (logbudget=),
 * all open activations get their exits, and the tree counts what follows.
 */
final class JTraceLog {
  private static final long ARENA = JTraceProbe.ARENA;
  /** Whether records have a time of their own. */
  private static final boolean WIDE = JTraceClock.FINE;
  private static final int RECORD = WIDE ? 8 : 4;

  private static final int ARENA_LOG_STOPPED = 712;
  private static final int STATE_LOG_NEXT = 112;
  private static final int STATE_LOG_LIMIT = 120;
  private static final int STATE_LOG_LAP = 128;
  private static final int STATE_LOG_RING = 136;
  private static final int STATE_LOG_GAP = 144;
  private static final int STATE_LOG_GAP_TOP = 152;
  private static final int STATE_LOG_DROPPED = 160;
  private static final int STATE_LOG_TIME = 168;
  private static final int RING_TAIL = 0;
  private static final int RING_BYTES = 8;
  private static final int RING_RECORD_BYTES = 16;
  private static final int RING_START_TICKS = 24;
  private static final int RING_DATA = 64;

  /** STATE_LOG_GAP once the log is over. */
  private static final int OVER = 1;

  private static final int EXIT = 2;
  /** Bits of an entry or exit: routine << 2 | exit << 1 | jitted. */
  private static final int OP_BITS = 24;
  // Without a routine: what the other bits of the record are.
  private static final int KIND_DROPPED = 1;
  private static final int KIND_TIME = 2;
  private static final int KIND_OFF = 3;

  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceLog() {}

  /** Sets up the thread's ring. {@code bytes} are what is to be had at {@code ring}, zeroed. */
  static void begin(long state, long ring, long bytes) {
    long now = JTraceProbe.CLOCK == 0 ? 0 : JTraceClock.now();
    U.putLong(ring + RING_BYTES, bytes - RING_DATA);
    U.putLong(ring + RING_RECORD_BYTES, RECORD);
    U.putLong(ring + RING_START_TICKS, now);
    U.putLong(state + STATE_LOG_TIME, now);
    U.putLong(state + STATE_LOG_NEXT, ring + RING_DATA);
    U.putLong(state + STATE_LOG_LIMIT, ring + RING_DATA + (bytes - RING_DATA));
    U.putLongRelease(null, state + STATE_LOG_RING, ring);
  }

  /** {@code current} calls the method {@code id}. */
  @ForceInline
  static void enter(long state, long current, long child, int id, boolean jitted) {
    if (!append(state, id << 2 | (jitted ? 1 : 0))) {
      enterWithoutRoom(state, current, child, id, jitted);
    }
  }

  /** The activation of {@code node} ends; {@code to} is its parent, {@code routine} its routine. */
  @ForceInline
  static void exit(long state, long node, long to, int routine, int jitted) {
    if (!append(state, routine << 2 | EXIT | jitted)) {
      exitWithoutRoom(state, node, to, routine << 2 | EXIT | jitted);
    }
  }

  @ForceInline
  private static boolean append(long state, int op) {
    long now = JTraceProbe.CLOCK == 0 ? 0 : JTraceClock.stamp(state);
    if (!WIDE && JTraceProbe.CLOCK != 0 && now != U.getLong(state + STATE_LOG_TIME)) {
      passTime(state, now);
    }
    long next = U.getLong(state + STATE_LOG_NEXT);
    if (next >= U.getLong(state + STATE_LOG_LIMIT)) {
      return false;
    }
    // In this order: a StackOverflowError in between leaves a hole, which the reader recognizes.
    U.putLong(state + STATE_LOG_NEXT, next + RECORD);
    if (WIDE) {
      U.putLong(next, now << OP_BITS | op);
    } else {
      U.putInt(next, op);
    }
    return true;
  }

  // ---- Slow paths -------------------------------------------------------------------------------

  private static void enterWithoutRoom(
      long state, long current, long child, int id, boolean jitted) {
    long gap = U.getLong(state + STATE_LOG_GAP);
    if (gap == 0) {
      if (makeRoom(state, RECORD) && append(state, id << 2 | (jitted ? 1 : 0))) {
        return;
      }
      beginGap(state, current, current);
    } else if (gap == OVER && JTraceProbe.CLOCK != 0) {
      JTraceClock.charge(state, current);
    }
    U.putLong(state + STATE_LOG_DROPPED, U.getLong(state + STATE_LOG_DROPPED) + 1);
    JTraceProbe.count(child, jitted);
  }

  private static void exitWithoutRoom(long state, long node, long to, int op) {
    long gap = U.getLong(state + STATE_LOG_GAP);
    if (gap == OVER) {
      if (JTraceProbe.CLOCK != 0) {
        JTraceClock.charge(state, node);
        JTraceClock.close(node);
      }
      return;
    }
    if (gap == 0) {
      if (!makeRoom(state, RECORD) || !append(state, op)) {
        beginGap(state, node, to);
      }
      return;
    }
    if (node == gap) {
      gap = to;
      U.putLong(state + STATE_LOG_GAP, gap);
    }
    if (U.getLong(ARENA + ARENA_LOG_STOPPED) != 0) {
      endLog(state);
    } else if (to == gap) {
      endGap(state, gap);
    }
  }

  /** {@code top}: where the log's reader stands; {@code at}: where it would have to stand. */
  private static void beginGap(long state, long top, long at) {
    U.putLong(state + STATE_LOG_DROPPED, 0);
    U.putLong(state + STATE_LOG_GAP_TOP, top);
    U.putLong(state + STATE_LOG_GAP, at);
  }

  /** The thread stands where the log can go on: it does, if there is room enough. */
  private static void endGap(long state, long gap) {
    long ring = U.getLong(state + STATE_LOG_RING);
    if (ring != 0) {
      putGap(state, gap, U.getLong(ring + RING_BYTES) >>> 2);
    }
  }

  /** Everything that is still open in the log ends; the tree has a clock of its own from now on. */
  private static void endLog(long state) {
    if (putGap(state, 0, 0)) {
      U.putLong(state + STATE_LOG_GAP, OVER);
      U.putLong(state + STATE_LOG_LIMIT, 0);
      if (JTraceProbe.CLOCK != 0) {
        JTraceClock.restart(state);
      }
    }
  }

  /** Records the gap's calls and the exits from its top up to {@code end} (0: the root). */
  private static boolean putGap(long state, long end, long spare) {
    long top = U.getLong(state + STATE_LOG_GAP_TOP);
    long dropped = U.getLong(state + STATE_LOG_DROPPED);
    long records = 2 + (dropped >>> OP_BITS);
    for (long node = top; node != end && JTraceTree.routine(node) != 0; ) {
      records++;
      node = JTraceTree.parent(node);
    }
    if (!makeRoom(state, records * RECORD + spare)) {
      return false;
    }
    U.putLong(state + STATE_LOG_GAP, 0);
    for (; dropped != 0; dropped -= Math.min(dropped, (1 << OP_BITS) - 1)) {
      put(state, KIND_DROPPED, Math.min(dropped, (1 << OP_BITS) - 1));
    }
    for (long node = top; node != end && JTraceTree.routine(node) != 0; ) {
      if (!append(state, JTraceTree.routine(node) << 2 | EXIT)) {
        makeRoom(state, RECORD);
        append(state, JTraceTree.routine(node) << 2 | EXIT);
      }
      node = JTraceTree.parent(node);
    }
    return true;
  }

  /** clock=coarse: the time since the last record, in microseconds. */
  private static void passTime(long state, long now) {
    long time = U.getLong(state + STATE_LOG_TIME);
    while (time != now) {
      long micros = Math.min((now - time) / 1000, (1 << OP_BITS) - 1);
      if (U.getLong(state + STATE_LOG_GAP) != 0 || !put(state, KIND_TIME, micros)) {
        return;
      }
      time += micros * 1000;
      U.putLong(state + STATE_LOG_TIME, time);
    }
  }

  /** clock=cpu: the thread was off the processors since its last record, for so many ticks. */
  static void off(long state, long ticks) {
    if (U.getLong(state + STATE_LOG_GAP) == 0) {
      put(state, KIND_OFF, ticks);
    }
  }

  private static boolean put(long state, int kind, long value) {
    long next = U.getLong(state + STATE_LOG_NEXT);
    if (next >= U.getLong(state + STATE_LOG_LIMIT)) {
      if (!makeRoom(state, RECORD)) {
        return false;
      }
      next = U.getLong(state + STATE_LOG_NEXT);
    }
    U.putLong(state + STATE_LOG_NEXT, next + RECORD);
    if (WIDE) {
      U.putLong(next, value << OP_BITS | kind);
    } else {
      U.putInt(next, kind << OP_BITS | (int) value);
    }
    return true;
  }

  /** Whether there is room for so many bytes, though perhaps not in one piece. */
  private static boolean makeRoom(long state, long bytes) {
    long ring = U.getLong(state + STATE_LOG_RING);
    if (ring == 0 || U.getLong(state + STATE_LOG_GAP) == OVER) {
      return false;
    }
    long size = U.getLong(ring + RING_BYTES);
    long data = ring + RING_DATA;
    long tail = U.getLongAcquire(null, ring + RING_TAIL);
    long next = U.getLong(state + STATE_LOG_NEXT);
    long lap = U.getLong(state + STATE_LOG_LAP);
    if (lap + (next - data) < tail) {
      // Cut off below, between the two stores.
      lap += size;
      U.putLong(state + STATE_LOG_LAP, lap);
    }
    long free = size - (lap + (next - data) - tail);
    if (free < bytes || free < RECORD) {
      return false;
    }
    // No room at all while position and bound do not belong together.
    U.putLong(state + STATE_LOG_LIMIT, 0);
    if (next == data + size) {
      next = data;
      U.putLong(state + STATE_LOG_NEXT, next);
      U.putLong(state + STATE_LOG_LAP, lap + size);
    }
    U.putLong(state + STATE_LOG_LIMIT, Math.min(next + free, data + size));
    return true;
  }
}
