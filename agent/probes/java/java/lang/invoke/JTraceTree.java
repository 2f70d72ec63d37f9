package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;

import jdk.internal.misc.Unsafe;

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

  private static int depth(long node) {
    return U.getShort(node + NODE_DEPTH) & 0xFFFF;
  }

  static boolean isBelow(long node, long ancestor) {
    while (node != ancestor && U.getInt(node + NODE_PARENT) != 0) {
      node = parent(node);
    }
    return node == ancestor;
  }

  static int nodeBytes() {
    return JTraceProbe.CLOCK == 0 ? NODE_SIZE : NODE_SIZE + NODE_TIMES_SIZE;
  }

  /** The child that is not in its direct slot, made if there is none. */
  static long findChild(long state, long node, int id) {
    if (node == ARENA + ARENA_LOST_NODE) {
      return node;
    }
    int table = U.getInt(node + NODE_TABLE);
    if (table != 0) {
      long slot = U.getLong(tableSlot(at(table), id));
      if (slot != 0) {
        return ARENA + (slot >>> ID_BITS);
      }
    }
    return newChild(state, node, id);
  }

  /** Address of the slot that holds id, or of the free one where it belongs. */
  private static long tableSlot(long table, int id) {
    int mask = U.getInt(table + TABLE_MASK);
    for (int i = (id * HASH >>> 8) & mask; ; i = (i + 1) & mask) {
      long address = table + TABLE_SLOTS + ((long) i << 3);
      long slot = U.getLong(address);
      if (slot == 0 || (int) slot == id) {
        return address;
      }
    }
  }

  private static long newChild(long state, long parent, int id) {
    long direct = parent + NODE_SLOTS + ((long) (id & (SLOT_COUNT - 1)) << 3);
    long slotAddress = U.getLong(direct) == 0 ? direct : freeTableSlot(state, parent, id);
    long node = slotAddress == 0 ? 0 : JTraceMemory.allocate(state, nodeBytes());
    if (node == 0) {
      return ARENA + ARENA_LOST_NODE;
    }
    U.putInt(node + NODE_ROUTINE, id);
    U.putInt(node + NODE_PARENT, reference(parent));
    U.putShort(node + NODE_DEPTH, (short) Math.min(depth(parent) + 1, 0xFFFF));
    long last = at(U.getInt(state + STATE_LAST));
    // The order of creation is the order in which the writer thread meets the nodes.
    U.putIntRelease(null, last + NODE_NEXT, reference(node));
    U.putInt(state + STATE_LAST, reference(node));
    U.putLong(slotAddress, ((long) reference(node) << 32) | id);
    if (slotAddress != direct) {
      long count = at(U.getInt(parent + NODE_TABLE)) + TABLE_COUNT;
      U.putInt(count, U.getInt(count) + 1);
    }
    return node;
  }

  /** Room for id in the node's overflow table, which grows at three quarters; 0: no memory. */
  private static long freeTableSlot(long state, long node, int id) {
    int reference = U.getInt(node + NODE_TABLE);
    long table = reference == 0 ? 0 : at(reference);
    int capacity = table == 0 ? 0 : U.getInt(table + TABLE_MASK) + 1;
    if (table == 0 || (U.getInt(table + TABLE_COUNT) + 1) * 4 > capacity * 3) {
      table = newTable(state, table, capacity);
      if (table == 0) {
        return 0;
      }
      U.putInt(node + NODE_TABLE, reference(table));
    }
    return tableSlot(table, id);
  }

  private static long newTable(long state, long old, int oldCapacity) {
    int capacity = old == 0 ? TABLE_FIRST_CAPACITY : oldCapacity * 2;
    long table = JTraceMemory.allocate(state, TABLE_SLOTS + capacity * 8L);
    if (table == 0) {
      return 0;
    }
    U.putInt(table + TABLE_MASK, capacity - 1);
    for (int i = 0; i < oldCapacity; i++) {
      long slot = U.getLong(old + TABLE_SLOTS + ((long) i << 3));
      if (slot != 0) {
        U.putLong(tableSlot(table, (int) slot), slot);
      }
    }
    U.putInt(table + TABLE_COUNT, old == 0 ? 0 : U.getInt(old + TABLE_COUNT));
    return table;
  }
}
