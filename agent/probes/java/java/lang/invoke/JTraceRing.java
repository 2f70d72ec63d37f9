package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The ring of a thread's log: its records and the room for them (agent/hot/event_ring.h is the same
 * layout for C++). Only the owning thread writes; the agent's writer thread reads, and writes 0 back.
 *
 * <p>A record is one word, 0 until it is written, so that a single store publishes it. Probes write up
 * to STATE_LOG_LIMIT, the end of a window; the slow paths look at what is free.
 */
final class JTraceRing {
  private static final long ARENA = JTraceProbe.ARENA;
  /** Whether records have a time of their own. */
  static final boolean WIDE = JTraceClock.FINE;
  static final int RECORD = WIDE ? 8 : 4;

  static final int STATE_LOG_NEXT = 112;
  static final int STATE_LOG_LIMIT = 120;
  static final int STATE_LOG_LAP = 128;
  static final int STATE_LOG_RING = 136;
  private static final int RING_TAIL = 0;
  private static final int RING_BYTES = 8;
  private static final int RING_RECORD_BYTES = 16;
  private static final int RING_START_TICKS = 24;
  private static final int RING_DATA = 128;

  /** Bits of an entry or exit: routine << 2 | exit << 1 | jitted. */
  static final int OP_BITS = 24;
  // Without a routine: what the other bits of the record are.
  static final int KIND_DROPPED = 1;
  static final int KIND_TIME = 2;
  static final int KIND_OFF = 3;
  static final int KIND_TIME_HIGH = 4;
  static final int KIND_AT = 0;

  /** A part of the ring: the window. */
  private static final int WINDOW_SHIFT = 3;

  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceRing() {}

  /** Sets up the thread's ring. {@code bytes} are what is to be had at {@code ring}, zeroed. */
  static void begin(long state, long ring, long bytes, long now) {
    U.putLong(ring + RING_BYTES, bytes - RING_DATA);
    U.putLong(ring + RING_RECORD_BYTES, RECORD);
    U.putLong(ring + RING_START_TICKS, now);
    U.putLong(state + STATE_LOG_NEXT, ring + RING_DATA);
    U.putLongRelease(null, state + STATE_LOG_RING, ring);
  }

  @ForceInline
  static void write(long state, long next, long record) {
    // In this order: a StackOverflowError in between leaves a hole, which the reader recognizes.
    U.putLong(state + STATE_LOG_NEXT, next + RECORD);
    if (WIDE) {
      U.putLong(next, record);
    } else {
      U.putInt(next, (int) record);
    }
  }

  /** Writes a record for which there is room. */
  static void put(long state, int kind, long value) {
    long next = U.getLong(state + STATE_LOG_NEXT);
    long ring = U.getLong(state + STATE_LOG_RING);
    if (next == ring + RING_DATA + U.getLong(ring + RING_BYTES)) {
      next = beginLap(state, ring);
    }
    if (WIDE) {
      write(state, next, value << OP_BITS | kind);
    } else {
      // A node's reference takes all bits but the first.
      write(state, next, kind == KIND_AT ? value | 1L << 31 : (long) kind << OP_BITS | value);
    }
  }

  private static long beginLap(long state, long ring) {
    // No room at all while position and bound do not belong together.
    U.putLong(state + STATE_LOG_LIMIT, 0);
    U.putLong(state + STATE_LOG_NEXT, ring + RING_DATA);
    U.putLong(state + STATE_LOG_LAP, U.getLong(state + STATE_LOG_LAP) + U.getLong(ring + RING_BYTES));
    return ring + RING_DATA;
  }

  /** Lets probes write records, as far as there is room in one piece. */
  static boolean openWindow(long state) {
    long free = free(state);
    if (free < RECORD) {
      return false;
    }
    long ring = U.getLong(state + STATE_LOG_RING);
    long end = ring + RING_DATA + U.getLong(ring + RING_BYTES);
    long next = U.getLong(state + STATE_LOG_NEXT);
    if (next == end) {
      next = beginLap(state, ring);
    }
    long most = U.getLong(ring + RING_BYTES) >>> WINDOW_SHIFT & -RECORD;
    U.putLong(state + STATE_LOG_LIMIT, JTraceMemory.min(next + JTraceMemory.min(free, most), end));
    return true;
  }

  /** Bytes that records may take, though perhaps not in one piece. */
  static long free(long state) {
    long ring = U.getLong(state + STATE_LOG_RING);
    if (ring == 0) {
      return 0;
    }
    long size = U.getLong(ring + RING_BYTES);
    long tail = U.getLongAcquire(null, ring + RING_TAIL);
    long lap = U.getLong(state + STATE_LOG_LAP);
    long used = lap + (U.getLong(state + STATE_LOG_NEXT) - (ring + RING_DATA)) - tail;
    if (used < 0) {
      // beginLap was cut off between its last two stores.
      U.putLong(state + STATE_LOG_LAP, lap + size);
      used += size;
    }
    return size - used;
  }

  static long size(long state) {
    long ring = U.getLong(state + STATE_LOG_RING);
    return ring == 0 ? 0 : U.getLong(ring + RING_BYTES);
  }
}
