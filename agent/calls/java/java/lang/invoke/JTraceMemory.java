package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/** The memory of the probes: threads take chunks from the arena and cut off from their newest. */
final class JTraceMemory {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceMemory() {}

  /** Zeroed memory for a node: one that the writer thread released, or new; 0: none left. */
  @DontInline
  static long allocateNode(long state, int limit) {
    int free = U.getInt(state + STATE_POOL);
    if (free == 0 && U.getInt(state + STATE_FREED) != 0) {
      free = U.getAndSetInt(null, state + STATE_FREED, 0);
    }
    if (free == 0) {
      return allocate(state, JTraceTree.nodeBytes(), limit);
    }
    long node = at(free);
    U.putInt(state + STATE_POOL, U.getInt(node + NODE_NEXT));
    U.putInt(node + NODE_NEXT, 0);
    long slots = U.getLong(node + NODE_SLOTS);
    if (slots != 0) {
      // The node that was here had a few.
      freeFew(state, slots, U.getChar(node + NODE_MASK) + 8);
      U.putLong(node + NODE_SLOTS, 0);
      U.putChar(node + NODE_MASK, (char) 0);
    }
    return node;
  }

  /** 8, 16 or 32 bytes, not zeroed; 0: none left. Not in a log. */
  static long allocateFew(long state, int bytes, int limit) {
    long list = state + STATE_SMALL_SLOTS_FREE + (bytes >> 4 << 3);
    long few = U.getLong(list);
    if (few != 0) {
      U.putLong(list, U.getLong(few) & ~1L);
      return few;
    }
    few = U.getLong(state + STATE_SMALL_SLOTS);
    long used = few & NODE_SIZE - 1;
    if (used == 0 || used + bytes > NODE_SIZE) {
      few = allocateNode(state, limit);
      if (few == 0) {
        return 0;
      }
    }
    U.putLong(state + STATE_SMALL_SLOTS, few + bytes);
    return few;
  }

  /** The writer thread may still read it: its first word is not a node's address any more. */
  static void freeFew(long state, long few, int bytes) {
    long list = state + STATE_SMALL_SLOTS_FREE + (bytes >> 4 << 3);
    U.putLong(few, U.getLong(list) | 1);
    U.putLong(list, few);
  }

  /**
   * Zeroed memory from the thread's current chunk or a new one; 0: none left. {@code limit}: of the
   * arena: ARENA_LIMIT, ARENA_RESERVE_LIMIT or ARENA_STATE_LIMIT.
   */
  static long allocate(long state, long bytes, int limit) {
    bytes = (bytes + 63) & ~63L;
    long address = U.getLong(state + STATE_BUMP);
    if (U.getLong(state + STATE_LIMIT) - address < bytes && !nextChunk(state, bytes, limit)) {
      return 0;
    }
    address = U.getLong(state + STATE_BUMP);
    U.putLong(state + STATE_BUMP, address + bytes);
    return address;
  }

  // The probes call no method that may have probes itself, and so nothing of the JDK except Unsafe
  // and Thread.currentThread: with include=java.** Math.min has some.

  static int min(int a, int b) {
    return a <= b ? a : b;
  }

  static long min(long a, long b) {
    return a <= b ? a : b;
  }

  static int max(int a, int b) {
    return a >= b ? a : b;
  }

  static long max(long a, long b) {
    return a >= b ? a : b;
  }

  private static boolean nextChunk(long state, long bytes, int limit) {
    // Chunks from a reserve are small: usual nodes use the rest of them.
    int wanted = 0;
    if (limit == ARENA_LIMIT) {
      wanted = min(U.getInt(state + STATE_CHUNK_CLASS) + 1, USUAL_CLASSES - 1);
      U.putInt(state + STATE_CHUNK_CLASS, wanted);
    }
    while (wanted < CHUNK_CLASSES - 1 && chunkBytes(wanted) - CHUNK_HEADER < bytes) {
      wanted++;
    }
    // Smaller ones may have been released, or fit where there is no room for a new one.
    for (int c = wanted; c >= 0 && chunkBytes(c) - CHUNK_HEADER >= bytes; c--) {
      long chunk = newChunk(c, limit);
      if (chunk != 0) {
        useChunk(state, chunk, chunkBytes(c));
        return true;
      }
    }
    return false;
  }

  private static void useChunk(long state, long chunk, long bytes) {
    U.putInt(chunk + CHUNK_NEXT, U.getInt(state + STATE_CHUNKS));
    U.putInt(state + STATE_CHUNKS, reference(chunk));
    U.putLong(state + STATE_CHUNK_BYTES, U.getLong(state + STATE_CHUNK_BYTES) + bytes);
    // No room at all while the two bounds belong to different chunks.
    U.putLong(state + STATE_LIMIT, 0);
    U.putLong(state + STATE_BUMP, chunk + CHUNK_HEADER);
    U.putLong(state + STATE_LIMIT, chunk + bytes);
  }

  static long chunkBytes(int sizeClass) {
    return 1L << (CHUNK_BASE_SHIFT + 2 * sizeClass);
  }

  /** A zeroed chunk, recycled or from the arena's end; 0: none left. */
  static long newChunk(int sizeClass, int arenaLimit) {
    long free = ARENA + ARENA_FREE + sizeClass * 8L;
    for (long head; (int) (head = U.getLongVolatile(null, free)) != 0; ) {
      long chunk = at((int) head);
      // The upper half counts pops: a chunk released meanwhile is not treated as unchanged.
      long next = (((head >>> 32) + 1) << 32) | (U.getInt(chunk + CHUNK_NEXT) & 0xFFFFFFFFL);
      if (U.compareAndSetLong(null, free, head, next)) {
        U.putInt(chunk + CHUNK_NEXT, 0);
        return chunk;
      }
    }
    long bytes = chunkBytes(sizeClass);
    long limit = U.getLong(ARENA + arenaLimit);
    for (long offset; (offset = U.getLongVolatile(null, ARENA + ARENA_NEXT)) + bytes <= limit; ) {
      if (U.compareAndSetLong(null, ARENA + ARENA_NEXT, offset, offset + bytes)) {
        U.putInt(ARENA + offset + CHUNK_CLASS, sizeClass);
        return ARENA + offset;
      }
    }
    return 0;
  }

  static long at(int reference) {
    return ARENA + (((long) reference & 0xFFFFFFFFL) << GRANULE_SHIFT);
  }

  static int reference(long address) {
    return (int) ((address - ARENA) >>> GRANULE_SHIFT);
  }
}
