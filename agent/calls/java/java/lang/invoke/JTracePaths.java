package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;
import static java.lang.invoke.JTraceTree.parent;
import static java.lang.invoke.JTraceTree.routine;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The counters of blocks by call path (blocks=paths): each node of a tree has those of its method,
 * from the first one that counts. What finds no node, or no memory, is counted by method, in the
 * counters that all threads share.
 */
final class JTracePaths {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final long OWNERS = JTraceProbe.BLOCK_OWNERS;
  private static final long SHARED = JTraceProbe.BLOCKS;

  /** In a node. */
  private static final int BLOCKS =
      NODE_SIZE
          + (JTraceProbe.CLOCK == 0 ? 0 : NODE_TIMES_SIZE)
          + (JTraceProbe.METRICS == 0 ? 0 : NODE_METRICS_SIZE);

  private static final Unsafe U = Unsafe.getUnsafe();

  private JTracePaths() {}

  @ForceInline
  static void hit(long state, int id) {
    long set = U.getLong(state + STATE_CURRENT) + BLOCKS;
    long range = U.getLong(set + SET_RANGE);
    int index = id - (int) range;
    if (index >= 0 && index < (int) (range >>> 32)) {
      JTraceBlocks.add(U.getLong(set + SET_COUNTS) + ((long) index << 3));
    } else {
      hitElsewhere(state, id);
    }
  }

  /** The first time on a path; leaves, which are not current; other code of the same method. */
  @DontInline
  private static void hitElsewhere(long state, int id) {
    long owner = U.getLong(OWNERS + ((long) (id & (SHARED_BLOCK_IDS - 1)) << 3));
    long node = owner == 0 ? 0 : nodeOf(state, (int) (owner >>> 33), (owner >>> 32 & 1) != 0);
    int index = (int) owner & 0xFFFF;
    long counts =
        node == 0 ? 0 : counts(state, node + BLOCKS, id - index, (int) (owner >>> 16) & 0xFFFF);
    if (counts != 0) {
      JTraceBlocks.add(counts + ((long) index << 3));
    } else {
      JTraceBlocks.hitShared(id);
    }
  }

  /**
   * The node of the running activation; 0: there is none. An exception may have left activations
   * above it without an exit: then it is further up.
   */
  private static long nodeOf(long state, int id, boolean isLeaf) {
    long node = U.getLong(state + STATE_CURRENT);
    if (node == ARENA + ARENA_SINK_NODE) {
      return 0;
    }
    if (isLeaf) {
      node = JTraceTree.childOfOpenCall(state, node, node, id);
      return node == ARENA + ARENA_SINK_NODE ? 0 : node;
    }
    while (routine(node) != id) {
      if (U.getInt(node + NODE_PARENT) == 0) {
        return 0;
      }
      node = parent(node);
    }
    return node;
  }

  /** Address of the counters that begin with the id {@code first}; 0: no memory. */
  private static long counts(long state, long head, int first, int size) {
    long last = head;
    for (long set = head; ; set = at(U.getInt(set + SET_MORE))) {
      if (U.getLong(set + SET_RANGE) == range(first, size)) {
        return U.getLong(set + SET_COUNTS);
      }
      last = set;
      if (U.getInt(set + SET_MORE) == 0) {
        break;
      }
    }
    // Code of an earlier recording still runs, or there was no memory before.
    long recording = U.getLong(SHARED + BLOCKS_RECORDING);
    if (first < recording || U.getInt(head + SET_OUT_OF_MEMORY) != 0) {
      return 0;
    }
    long set = setOfEarlier(head, size, recording);
    if (set == 0) {
      set = U.getLong(head + SET_RANGE) == 0 ? fill(state, head, size) : append(state, last, size);
    }
    if (set == 0) {
      U.putInt(head + SET_OUT_OF_MEMORY, 1);
      U.getAndAddLong(null, SHARED + BLOCKS_OUT_OF_MEMORY, 1);
      return 0;
    }
    U.putLongRelease(null, set + SET_RANGE, range(first, size));
    return U.getLong(set + SET_COUNTS);
  }

  private static long range(int first, int size) {
    return (long) size << 32 | first;
  }

  /**
   * Counters that an earlier recording left, as new: their ids are used no more; 0: there are none.
   * That recording's code may have run until now, so what they have is of no use as a base.
   */
  private static long setOfEarlier(long head, int size, long recording) {
    for (long set = head; ; set = at(U.getInt(set + SET_MORE))) {
      long range = U.getLong(set + SET_RANGE);
      if (range >>> 32 == size && (int) range < recording) {
        long counts = U.getLong(set + SET_COUNTS);
        for (int i = 0; i < size; i++) {
          U.putLong(counts + 8L * i, 0);
        }
        return set;
      }
      if (U.getInt(set + SET_MORE) == 0) {
        return 0;
      }
    }
  }

  /** The node's first counters. */
  private static long fill(long state, long head, int size) {
    long counts =
        size <= NODE_BLOCKS
            ? head + NODE_OWN_BLOCKS
            : JTraceSlots.allocate(state, 8L * size, ARENA_LIMIT);
    U.putLong(head + SET_COUNTS, counts);
    return counts == 0 ? 0 : head;
  }

  private static long append(long state, long last, int size) {
    long set = JTraceSlots.allocate(state, SET_SIZE + 8L * size, ARENA_LIMIT);
    if (set != 0) {
      U.putLong(set + SET_COUNTS, set + SET_SIZE);
      U.putIntRelease(null, last + SET_MORE, reference(set));
    }
    return set;
  }
}
