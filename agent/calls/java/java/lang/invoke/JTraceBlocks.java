package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The counters of blocks (blocks=on). Each thread has its own, 8 bytes each, which only it changes;
 * virtual threads, counters beyond those, and threads for which there was no memory use the shared
 * ones, changed atomically. With blocks=paths the nodes of the call tree have them (JTracePaths).
 */
public final class JTraceBlocks {
  static final long ARENA = JTraceProbe.ARENA;
  private static final long SHARED = JTraceProbe.BLOCKS;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceBlocks() {}

  /** At the beginning of a block, or on the way of an exception. */
  @ForceInline
  public static void hit(int id) {
    if (JTraceProbe.isC2()) {
      hitHere(id);
    } else {
      hitElsewhere(id);
    }
  }

  /** See JTraceProbe.isC2. */
  @DontInline
  private static void hitElsewhere(int id) {
    hitHere(id);
  }

  @ForceInline
  private static void hitHere(int id) {
    long state = JTraceCurrent.state();
    if (JTraceProbe.BLOCK_OWNERS != 0) {
      JTracePaths.hit(state, id);
      return;
    }
    if (JTraceProbe.FLAT) {
      // At an address that the JIT knows: no load, and nothing else to compare in a loop.
      if (id >= BLOCK_IDS || state == ARENA + ARENA_SHARED) {
        hitShared(id);
      } else {
        add(state + FLAT_BLOCKS + ((long) id << 3));
      }
      return;
    }
    long counters = U.getLong(state + STATE_BLOCKS);
    if (id >= BLOCK_IDS || counters == SHARED) {
      hitShared(id);
    } else {
      add(counters + ((long) id << 3));
    }
  }

  @ForceInline
  static void add(long counter) {
    U.putLong(counter, U.getLong(counter) + 1);
  }

  static void hitShared(int id) {
    U.getAndAddLong(null, SHARED + ((long) (id & (SHARED_BLOCK_IDS - 1)) << 3), 1);
  }

  /** A new thread's counters. */
  static void begin(long state, boolean virtual) {
    boolean shares = virtual || JTraceProbe.BLOCK_OWNERS != 0;
    U.putLong(state + STATE_BLOCKS, shares ? SHARED : newCounters());
  }

  /** Zeroed counters, recycled or new; the shared ones if there is no memory. */
  private static long newCounters() {
    long free = SHARED + BLOCKS_FREE;
    for (long head; (int) (head = U.getLongVolatile(null, free)) != 0; ) {
      long counters = SHARED + (long) (int) head * BLOCKS_SIZE;
      // As in JTraceMemory.newChunk. Counter 0 counts nothing: it is the link of free ones.
      long next = (((head >>> 32) + 1) << 32) | (U.getInt(counters) & 0xFFFFFFFFL);
      if (U.compareAndSetLong(null, free, head, next)) {
        U.putInt(counters, 0);
        return counters;
      }
    }
    long limit = U.getLong(SHARED + BLOCKS_LIMIT);
    for (long next; (next = U.getLongVolatile(null, SHARED + BLOCKS_NEXT)) < limit; ) {
      if (U.compareAndSetLong(null, SHARED + BLOCKS_NEXT, next, next + 1)) {
        return SHARED + next * BLOCKS_SIZE;
      }
    }
    return SHARED;
  }
}
