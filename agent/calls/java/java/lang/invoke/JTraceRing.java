package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The ring of a thread's log: its records and the room for them (agent/signal_safe/log_ring.h is the same
 * layout for C++). Only the owning thread writes; the agent's writer thread reads, and writes 0
 * back.
 *
 * <p>A record is one word, 0 until it is written, so that a single store publishes it. Probes write
 * up to STATE_LOG_LIMIT, the end of a window; the slow paths check the free room, and continue in a
 * larger ring where there is little.
 */
final class JTraceRing {
  private static final long ARENA = JTraceProbe.ARENA;
  /** Whether records have their own time. */
  static final boolean WIDE = JTraceClock.FINE;
  static final int RECORD = WIDE ? 8 : 4;

  static final int STATE_LOG_NEXT = 112;
  static final int STATE_LOG_LIMIT = 136;
  private static final int STATE_LOG_READ = 144;
  static final int STATE_LOG_RING = 120;
  private static final int RING_TAIL = 0;
  private static final int RING_BYTES = 8;
  private static final int RING_RECORD_BYTES = 16;
  private static final int RING_START_TICKS = 24;
  private static final int RING_PREVIOUS = 32;
  private static final int RING_LAP = 40;
  private static final int RING_DATA = 64;

  // Size classes of chunks: 8 KB, 128 KB and 2 MB; virtual threads get none of the last.
  private static final int FIRST_CLASS = 1;
  private static final int CLASS_STEP = 2;
  private static final int VIRTUAL_CLASS = 3;
  private static final int LAST_CLASS = 5;
  private static final int ARENA_LOG_WAITS = 912;
  private static final int ARENA_LOG_WAITED = 920;
  private static final int ARENA_LOG_MOST = 1448;
  private static final int ARENA_LOG_LARGE = 1456;
  private static final int ARENA_LOG_SMALL = 1464;

  /** Bits of an entry or exit: routine << 2 | exit << 1 | jitted. */
  static final int OP_BITS = 24;
  // Without a routine: the meaning of the record's other bits.
  static final int KIND_DROPPED = 1;
  static final int KIND_TIME = 2;
  static final int KIND_OFF = 3;
  static final int KIND_TIME_HIGH = 4;
  static final int KIND_AT = 0;

  // ARENA_LOG_WAITS; 0: no thread waits.
  private static final int WAIT = 1;
  private static final int STALLED = 2;
  private static final int NAP_MICROS = 100;
  /** So many naps without a record read, about ten seconds: the reader does not read on. */
  private static final int NAPS_AT_MOST = 60_000;

  /** A part of the ring: the window. */
  private static final int WINDOW_SHIFT = 3;

  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceRing() {}

  /**
   * Continues in a larger ring, the first one if there is none, if there is memory for it. The
   * writer thread reads the contents of the old one and releases its memory.
   */
  static void grow(long state, long now) {
    long old = U.getLong(state + STATE_LOG_RING);
    int sizeClass = FIRST_CLASS;
    if (old != 0) {
      sizeClass = U.getInt(old - CHUNK_HEADER + CHUNK_CLASS) + CLASS_STEP;
    }
    if (sizeClass > (U.getInt(state + STATE_VIRTUAL) != 0 ? VIRTUAL_CLASS : LAST_CLASS)) {
      return;
    }
    long chunk = newChunk(sizeClass);
    if (chunk == 0) {
      return;
    }
    long ring = chunk + CHUNK_HEADER;
    U.putLong(ring + RING_BYTES, JTraceMemory.chunkBytes(sizeClass) - CHUNK_HEADER - RING_DATA);
    U.putLong(ring + RING_RECORD_BYTES, RECORD);
    U.putLong(ring + RING_START_TICKS, now);
    U.putLong(ring + RING_PREVIOUS, old);
    // No room at all until the position is in the new ring (free).
    U.putLong(state + STATE_LOG_LIMIT, 0);
    if (old == 0) {
      U.putLong(state + STATE_LOG_READ, ring);
    }
    U.putLongRelease(null, state + STATE_LOG_RING, ring);
    U.putLong(state + STATE_LOG_NEXT, ring + RING_DATA);
  }

  /** Zeroed memory for a ring, within the rings' share of the arena; 0: none. */
  private static long newChunk(int sizeClass) {
    long bytes = JTraceMemory.chunkBytes(sizeClass);
    long most = U.getLong(ARENA + ARENA_LOG_MOST);
    if (sizeClass != LAST_CLASS) {
      // Trees use such chunks, too, once rings have released them.
      if (U.getAndAddLong(null, ARENA + ARENA_LOG_SMALL, bytes) + bytes <= most) {
        long chunk = JTraceMemory.newChunk(sizeClass, ARENA_LIMIT);
        if (chunk != 0) {
          return chunk;
        }
      }
      U.getAndAddLong(null, ARENA + ARENA_LOG_SMALL, -bytes);
      return 0;
    }
    boolean isFree = (int) U.getLongVolatile(null, ARENA + ARENA_FREE + sizeClass * 8L) != 0;
    if (!isFree && U.getLongVolatile(null, ARENA + ARENA_LOG_LARGE) + bytes > most) {
      return 0;
    }
    long unused = ARENA + U.getLongVolatile(null, ARENA + ARENA_NEXT);
    long chunk = JTraceMemory.newChunk(sizeClass, ARENA_LIMIT);
    if (chunk >= unused) {
      U.getAndAddLong(null, ARENA + ARENA_LOG_LARGE, bytes);
    }
    return chunk;
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
    U.putLong(ring + RING_LAP, U.getLong(ring + RING_LAP) + U.getLong(ring + RING_BYTES));
    return ring + RING_DATA;
  }

  /** Lets probes write records, as far as there is contiguous room. */
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

  /** Whether there is so much room. With overflow=wait the thread waits for it. */
  static boolean hasRoom(long state, long bytes) {
    return free(state) >= bytes || waits() && awaitRoom(state, bytes);
  }

  /** Whether threads wait where their rings are full. */
  static boolean waits() {
    return U.getLongVolatile(null, ARENA + ARENA_LOG_WAITS) == WAIT;
  }

  /**
   * Sleeps until there is so much room. The writer thread needs no lock that a Java thread may hold
   * here, and no Java code. Where it ends, fails or does not read on, nobody waits any longer.
   */
  private static boolean awaitRoom(long state, long bytes) {
    long ring = U.getLong(state + STATE_LOG_RING);
    if (ring == 0) {
      return false;
    }
    long begin = System.nanoTime();
    long tail = U.getLongVolatile(null, ring + RING_TAIL);
    for (int naps = 0; free(state) < bytes && waits(); naps++) {
      JTraceWait.nap(NAP_MICROS);
      long read = U.getLongVolatile(null, ring + RING_TAIL);
      if (read != tail) {
        tail = read;
        naps = 0;
      } else if (naps == NAPS_AT_MOST) {
        U.putLongVolatile(null, ARENA + ARENA_LOG_WAITS, STALLED);
      }
    }
    U.getAndAddLong(null, ARENA + ARENA_LOG_WAITED, System.nanoTime() - begin);
    return free(state) >= bytes;
  }

  /** Bytes that records may take, though perhaps not contiguously. */
  static long free(long state) {
    long ring = U.getLong(state + STATE_LOG_RING);
    if (ring == 0) {
      return 0;
    }
    long size = U.getLong(ring + RING_BYTES);
    long tail = U.getLongAcquire(null, ring + RING_TAIL);
    long lap = U.getLong(ring + RING_LAP);
    long inLap = U.getLong(state + STATE_LOG_NEXT) - (ring + RING_DATA);
    if (inLap < 0 || inLap > size) {
      // grow was cut off between its last two stores.
      U.putLong(state + STATE_LOG_NEXT, ring + RING_DATA);
      return size;
    }
    long used = lap + inLap - tail;
    if (used < 0) {
      // beginLap was cut off between its last two stores.
      U.putLong(ring + RING_LAP, lap + size);
      used += size;
    }
    return size - used;
  }

  static long size(long state) {
    long ring = U.getLong(state + STATE_LOG_RING);
    return ring == 0 ? 0 : U.getLong(ring + RING_BYTES);
  }
}
