package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * The nodes of calling-context trees and their children. Slow paths: the probes look only into a
 * node's direct slots.
 */
final class JTraceTree {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceTree() {}

  static long parent(long node) {
    return at(U.getInt(node + NODE_PARENT));
  }

  static int routine(long node) {
    return U.getInt(node + NODE_ROUTINE);
  }

  static int depth(long node) {
    return U.getShort(node + NODE_DEPTH) & 0xFFFF;
  }

  static boolean isBelow(long node, long ancestor) {
    int depth = depth(ancestor);
    while (node != ancestor && depth(node) >= depth && U.getInt(node + NODE_PARENT) != 0) {
      node = parent(node);
    }
    return node == ancestor;
  }

  static int nodeBytes() {
    return NODE_SIZE
        + (JTraceProbe.CLOCK == 0 ? 0 : NODE_TIMES_SIZE)
        + (JTraceProbe.METRICS == 0 ? 0 : NODE_METRICS_SIZE);
  }

  /**
   * The child that is not in its direct slot, made if there is none. Never inlined: in each probe it
   * would keep what the probed method calls from being inlined.
   */
  @DontInline
  static long findChild(long state, long node, int id) {
    int table = U.getInt(node + NODE_TABLE);
    if (table != 0) {
      long slot = U.getLong(tableSlot(at(table), id));
      if (slot != 0) {
        return ARENA + (slot >>> ID_BITS);
      }
    }
    return node != ARENA + ARENA_LOST_NODE ? newChild(state, node, id) : childOfLost(state, id);
  }

  /** The caller has no node. */
  private static long childOfLost(long state, int id) {
    if (JTraceProbe.LOG) {
      return ARENA + ARENA_LOST_NODE;
    }
    if (state == ARENA) {
      countByRoutine(id, JTraceProbe.jitted(id));
      return ARENA + ARENA_LOST_NODE;
    }
    // The caller found no memory for a node, or for the thread's state; by now there may be some.
    long pruned = JTracePruner.prunedNodeOfRoot(state);
    if (pruned == 0) {
      countByRoutine(id, JTraceProbe.jitted(id));
      return ARENA + ARENA_LOST_NODE;
    }
    long child = lookUp(pruned, id);
    return child != 0 ? child : newChild(state, pruned, id);
  }

  /** Where an open call of id from {@code caller} was counted. Counts nothing. */
  static long childOfOpenCall(long state, long caller, int id) {
    if (caller == ARENA + ARENA_LOST_NODE) {
      return caller;
    }
    long child = lookUp(caller, id);
    if (child == 0) {
      child = JTracePruner.findPrunedChild(state, caller, id);
    }
    return child != 0 ? child : ARENA + ARENA_LOST_NODE;
  }

  /** Counts a call for which there is no memory: below the root's [pruned] node, or by routine. */
  static void countWithoutNode(long state, int id, boolean jitted) {
    long node = state == ARENA ? 0 : JTracePruner.prunedChildOfRoot(state, id);
    if (node != 0) {
      JTraceProbe.count(node, jitted);
    } else {
      countByRoutine(id, jitted);
    }
  }

  /** Counts a call without any place in the thread's tree. */
  private static void countByRoutine(int id, boolean jitted) {
    U.putInt(ARENA + ARENA_LOST, 1);
    JTraceProbe.countShared(id, jitted);
  }

  /** The child, wherever it is; 0: there is none. */
  static long lookUp(long node, int id) {
    long slot = U.getLong(directSlot(node, id));
    if ((int) slot == id) {
      return ARENA + (slot >>> ID_BITS);
    }
    int table = U.getInt(node + NODE_TABLE);
    if (table == 0) {
      return 0;
    }
    slot = U.getLong(tableSlot(at(table), id));
    return slot == 0 ? 0 : ARENA + (slot >>> ID_BITS);
  }

  static long directSlot(long node, int id) {
    return node + NODE_SLOTS + ((long) (id & (SLOT_COUNT - 1)) << 3);
  }

  private static long newChild(long state, long parent, int id) {
    if (JTraceProbe.LOG) {
      // The log's reader knows of no node: nothing may be folded or stand for something else.
      long node = makeChild(state, parent, id, ARENA_LIMIT);
      return node != 0 ? node : ARENA + ARENA_LOST_NODE;
    }
    if (U.getLong(state + STATE_VICTIMS) != 0) {
      JTracePruner.prune(state, parent);
    }
    if (depth(parent) >= U.getInt(ARENA + ARENA_MAX_DEPTH)) {
      long folded = JTracePruner.fold(state, parent, id);
      if (folded != 0) {
        return folded;
      }
    }
    long node = makeChild(state, parent, id, ARENA_LIMIT);
    if (node == 0) {
      node = JTracePruner.prunedChild(state, parent, id);
    }
    if (node == 0) {
      countByRoutine(id, JTraceProbe.jitted(id));
      node = ARENA + ARENA_LOST_NODE;
    }
    return node;
  }

  /** A new node in the tree; 0: no memory. */
  static long makeChild(long state, long parent, int id, int limit) {
    long slot = freeSlot(state, parent, id, limit);
    long node = slot == 0 ? 0 : JTraceMemory.allocateNode(state, limit);
    if (node == 0) {
      return 0;
    }
    U.putInt(node + NODE_ROUTINE, id);
    U.putInt(node + NODE_PARENT, reference(parent));
    U.putShort(node + NODE_DEPTH, (short) JTraceMemory.min(depth(parent) + 1, 0xFFFF));
    long last = at(U.getInt(state + STATE_LAST));
    // The order of creation is the order in which the writer thread meets the nodes.
    U.putIntRelease(null, last + NODE_NEXT, reference(node));
    U.putInt(state + STATE_LAST, reference(node));
    setSlot(parent, slot, node, id);
    return node;
  }

  // ---- Overflow tables --------------------------------------------------------------------------

  /** Address of the slot that holds id, or of the free one at the end of the search. */
  static long tableSlot(long table, int id) {
    int mask = U.getInt(table + TABLE_MASK);
    for (int i = (id * HASH >>> 8) & mask; ; i = (i + 1) & mask) {
      long address = table + TABLE_SLOTS + ((long) i << 3);
      long slot = U.getLong(address);
      if (slot == 0 || (int) slot == id) {
        return address;
      }
    }
  }

  /** Address of a slot where id, which the table does not hold, may be put. */
  private static long insertionSlot(long table, int id) {
    int mask = U.getInt(table + TABLE_MASK);
    for (int i = (id * HASH >>> 8) & mask; ; i = (i + 1) & mask) {
      long address = table + TABLE_SLOTS + ((long) i << 3);
      long slot = U.getLong(address);
      if (slot == 0 || slot == TABLE_TOMBSTONE) {
        return address;
      }
    }
  }

  /**
   * Address of a slot for the child id, which the node does not have: its direct one, or one of the
   * overflow table, which grows at three quarters; 0: no memory below {@code limit}.
   */
  static long freeSlot(long state, long node, int id, int limit) {
    long direct = directSlot(node, id);
    if (U.getLong(direct) == 0) {
      return direct;
    }
    int reference = U.getInt(node + NODE_TABLE);
    long table = reference == 0 ? 0 : at(reference);
    if (table != 0) {
      long slot = insertionSlot(table, id);
      int capacity = U.getInt(table + TABLE_MASK) + 1;
      if (U.getLong(slot) != 0 || (U.getInt(table + TABLE_COUNT) + 1) * 4 <= capacity * 3) {
        return slot;
      }
    }
    long grown = newTable(state, table, limit);
    if (grown == 0) {
      return 0;
    }
    U.putInt(node + NODE_TABLE, reference(grown));
    if (table != 0) {
      dropTable(state, table);
    }
    return insertionSlot(grown, id);
  }

  /** {@code address}: as freeSlot gave it. */
  static void setSlot(long parent, long address, long child, int id) {
    if (address != directSlot(parent, id) && U.getLong(address) == 0) {
      long count = at(U.getInt(parent + NODE_TABLE)) + TABLE_COUNT;
      U.putInt(count, U.getInt(count) + 1);
    }
    U.putLong(address, ((long) reference(child) << 32) | id);
  }

  /** A table with room for one more than the old one holds. */
  private static long newTable(long state, long old, int limit) {
    int oldCapacity = old == 0 ? 0 : U.getInt(old + TABLE_MASK) + 1;
    int live = 0;
    for (int i = 0; i < oldCapacity; i++) {
      live += isChild(U.getLong(old + TABLE_SLOTS + ((long) i << 3))) ? 1 : 0;
    }
    int capacity = JTraceMemory.max(oldCapacity, TABLE_FIRST_CAPACITY);
    if (live * 2 > oldCapacity) {
      capacity *= 2;
    }
    long bytes = TABLE_SLOTS + capacity * 8L;
    long table = bytes <= nodeBytes()
        ? JTraceMemory.allocateNode(state, limit)
        : JTraceMemory.allocate(state, bytes, limit);
    if (table == 0) {
      return 0;
    }
    U.putInt(table + TABLE_MASK, capacity - 1);
    for (int i = 0; i < oldCapacity; i++) {
      long slot = U.getLong(old + TABLE_SLOTS + ((long) i << 3));
      if (isChild(slot)) {
        U.putLong(insertionSlot(table, (int) slot), slot);
      }
    }
    U.putInt(table + TABLE_COUNT, live);
    return table;
  }

  private static boolean isChild(long slot) {
    return slot != 0 && slot != TABLE_TOMBSTONE;
  }

  /** The writer thread, which may be reading the table, makes nodes of its memory. */
  private static void dropTable(long state, long table) {
    int head;
    do {
      head = U.getIntVolatile(null, state + STATE_DROPPED);
      U.putInt(table + TABLE_COUNT, head);
    } while (!U.compareAndSetInt(null, state + STATE_DROPPED, head, reference(table)));
  }
}
