package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;
import static java.lang.invoke.JTraceTree.parent;
import static java.lang.invoke.JTraceTree.routine;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/** Finds a node's children: in its slots, and if there are very many in a table after them. */
final class JTraceSlots {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceSlots() {}

  private static int mask(long node) {
    return U.getChar(node + NODE_MASK) & ~MASK_MOVES;
  }

  /**
   * A child is in the first slot of its id, or from here on. {@code id}, here and below: a key
   * (JTraceProbe.key).
   */
  private static int offset(int id, int mask) {
    return (id < 0 ? id + (id >>> CALL_SITE_SHIFT) : id) << 3 & mask;
  }

  /** The child, if it is where searches for it begin; 0: it is not. */
  static long inOwnSlot(long node, int id) {
    long child = U.getLong(U.getLong(node + NODE_SLOTS) + offset(id, U.getChar(node + NODE_MASK)));
    return routine(child) == id ? child : 0;
  }

  /** Address of the slot that holds the child; 0: none does. */
  static long slotOf(long node, int id) {
    long slots = U.getLong(node + NODE_SLOTS);
    int mask = mask(node);
    int first = id << 3 & mask;
    if (routine(U.getLong(slots + first)) == id) {
      return slots + first;
    }
    int offset = offset(id, mask);
    for (int seen = 0; seen <= mask; seen += 8, offset = offset + 8 & mask) {
      long child = U.getLong(slots + offset);
      if (routine(child) == id) {
        return slots + offset;
      }
      if (child == ARENA + ARENA_SINK_NODE) {
        return 0;
      }
    }
    return 0;
  }

  /** The table of children that the most slots cannot hold; 0: there is none. */
  static long table(long node) {
    int mask = mask(node);
    int table = mask == MOST_MASK ? U.getInt(U.getLong(node + NODE_SLOTS) + mask + 8) : 0;
    return table == 0 ? 0 : at(table);
  }

  /**
   * Address of a slot for the child id, which the node does not have: the first free one from its
   * own on, or one of the table; 0: no memory below {@code limit}.
   */
  @DontInline
  static long freeSlot(long state, long node, int id, int limit) {
    int mask = mask(node);
    int most = mask <= WHOLE_MASK ? mask : mask / 4 * 3;
    if (hasNone(node) || used(node, mask) * 8 > most) {
      if (mask == MOST_MASK) {
        return freeTableSlot(state, node, id, limit);
      }
      if (!growSlots(state, node, limit) && (hasNone(node) || used(node, mask) * 8 > mask)) {
        return 0;
      }
    }
    return firstFree(U.getLong(node + NODE_SLOTS), mask(node), id);
  }

  private static long firstFree(long slots, int mask, int id) {
    int first = id << 3 & mask;
    if (isFree(U.getLong(slots + first))) {
      return slots + first;
    }
    int offset = offset(id, mask);
    while (!isFree(U.getLong(slots + offset))) {
      offset = offset + 8 & mask;
    }
    return slots + offset;
  }

  private static boolean hasNone(long node) {
    return U.getLong(node + NODE_SLOTS) == ARENA + ARENA_NO_SLOT;
  }

  private static boolean isFree(long child) {
    return child == ARENA + ARENA_SINK_NODE || child == ARENA + ARENA_TOMBSTONE;
  }

  /** Makes the node unreachable. */
  static void cutOff(long node) {
    long parent = parent(node);
    int id = routine(node);
    long slot = slotOf(parent, id);
    if (slot == 0 || U.getLong(slot) != node) {
      // It was made twice, or growing was cut off: then it may be where no search finds it.
      slot = slotWith(parent, node);
    }
    if (slot != 0) {
      U.putLong(slot, ARENA + ARENA_TOMBSTONE);
    }
    long table = table(parent);
    slot = table == 0 ? 0 : tableSlot(table, id);
    if (slot != 0 && U.getLong(slot) == tableEntry(node, id)) {
      U.putLong(slot, TABLE_TOMBSTONE);
    }
  }

  private static long slotWith(long parent, long child) {
    long slots = U.getLong(parent + NODE_SLOTS);
    for (int offset = mask(parent); offset >= 0; offset -= 8) {
      if (U.getLong(slots + offset) == child) {
        return slots + offset;
      }
    }
    return 0;
  }

  private static int used(long node, int mask) {
    long slots = U.getLong(node + NODE_SLOTS);
    int used = 0;
    for (int offset = 0; offset <= mask; offset += 8) {
      used += isFree(U.getLong(slots + offset)) ? 0 : 1;
    }
    return used;
  }

  /**
   * A child was not in its own slot. Where that happens repeatedly, slots are added: 32, or four a
   * child. Most nodes of a big tree are seen a few times, and have as many as children.
   */
  @DontInline
  static void spread(long state, long node) {
    int misses = U.getInt(state + STATE_MISSES) + 1;
    U.putInt(state + STATE_MISSES, misses);
    int mask = mask(node);
    if (misses % 8 == 0
        && mask < MOST_MASK
        && mask < JTraceMemory.max(31, used(node, mask) * 4) * 8) {
      while (growSlots(state, node, ARENA_LIMIT) && mask(node) < WHOLE_MASK) {}
    }
  }

  /** Twice the slots. If this is cut off before the mask is updated, children may be made twice. */
  @DontInline
  private static boolean growSlots(long state, long node, int limit) {
    long old = U.getLong(node + NODE_SLOTS);
    int oldMask = mask(node);
    boolean hasNone = hasNone(node);
    // The state of a thread with a log has no room for small blocks.
    int mask = !hasNone ? oldMask * 2 + 8 : JTraceProbe.LOG ? WHOLE_MASK : 0;
    long slots = newSlots(state, mask, limit);
    if (slots == 0) {
      return false;
    }
    for (int offset = 0; offset <= oldMask; offset += 8) {
      long child = U.getLong(old + offset);
      if (!isFree(child)) {
        U.putLong(firstFree(slots, mask, routine(child)), child);
      }
    }
    U.putChar(node + NODE_MASK, (char) (oldMask | MASK_MOVES));
    U.putLongRelease(null, node + NODE_SLOTS, slots);
    U.putCharRelease(null, node + NODE_MASK, (char) mask);
    if (oldMask >= WHOLE_MASK) {
      dropMemory(state, old, oldMask + 8);
    } else if (!hasNone) {
      JTraceMemory.freeFew(state, old, oldMask + 8);
    }
    return true;
  }

  private static long newSlots(long state, int mask, int limit) {
    long slots =
        mask < WHOLE_MASK
            ? JTraceMemory.allocateFew(state, mask + 8, limit)
            : allocate(state, mask + (mask == MOST_MASK ? 16 : 8), limit);
    for (int offset = 0; slots != 0 && offset <= mask; offset += 8) {
      U.putLong(slots + offset, ARENA + ARENA_SINK_NODE);
    }
    return slots;
  }

  /** Memory that NodeRecycler.FreeMemory may release. */
  static long allocate(long state, long bytes, int limit) {
    return bytes <= JTraceTree.nodeBytes()
        ? JTraceMemory.allocateNode(state, limit)
        : JTraceMemory.allocate(state, bytes, limit);
  }

  /** {@code address}: as freeSlot returned it. */
  @DontInline
  static void setSlot(long parent, long address, long child, int id) {
    long offset = address - U.getLong(parent + NODE_SLOTS);
    if (offset >= 0 && offset <= mask(parent)) {
      U.putLongRelease(null, address, child);
      return;
    }
    if (U.getLong(address) == 0) {
      long count = table(parent) + TABLE_COUNT;
      U.putInt(count, U.getInt(count) + 1);
    }
    U.putLong(address, tableEntry(child, id));
  }

  // ---- Tables -----------------------------------------------------------------------------------

  static long tableEntry(long child, int id) {
    return ((long) reference(child) << 32) | id & 0xFFFFFFFFL;
  }

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

  /** In the table after the most slots, which grows at three quarters. */
  private static long freeTableSlot(long state, long node, int id, int limit) {
    long table = table(node);
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
    U.putLongRelease(null, U.getLong(node + NODE_SLOTS) + MOST_MASK + 8, reference(grown));
    if (table != 0) {
      dropTable(state, table);
    }
    return insertionSlot(grown, id);
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
    long table = allocate(state, bytes, limit);
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

  /** Memory that may still be read: its first half word is never part of a node's address. */
  private static void dropMemory(long state, long memory, long bytes) {
    U.putInt(memory + TABLE_MASK, (int) (bytes >> 3) - 2);
    dropTable(state, memory);
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
