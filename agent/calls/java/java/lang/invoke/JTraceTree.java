package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * The nodes of calling-context trees and their children. Slow paths: the probes look only into a
 * node's slots. C2 compiles each of the larger methods by itself: inlined into each other, and
 * compiled again as more of their branches were taken, they took a seventh of its time in programs
 * that run for a second.
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
        + (JTraceProbe.METRICS == 0 ? 0 : NODE_METRICS_SIZE)
        + (JTraceProbe.BLOCK_OWNERS == 0 ? 0 : NODE_BLOCKS_SIZE)
        + (JTraceExits.ON ? JTraceExits.NODE_CUM_SIZE : 0);
  }

  /**
   * The child that is not in its slot, made if there is none. {@code id}, here and below: a key,
   * which is an id and perhaps a call site (JTraceProbe.key). Never inlined: in each probe it would
   * prevent the inlining of the probed method's callees.
   */
  @DontInline
  static long findChild(long state, long node, int id) {
    if (node == ARENA + ARENA_SINK_NODE) {
      return childOfLost(state, id);
    }
    long child = lookUp(node, id);
    if (child == 0) {
      return newChild(state, node, id);
    }
    JTraceSlots.spread(state, node);
    return child;
  }

  /** The child that is not in its first slot. Not inlined either. */
  @DontInline
  static long findChildOfCallSite(long state, long node, int key) {
    long child = JTraceSlots.inOwnSlot(node, key);
    return child != 0 ? child : findChild(state, node, key);
  }

  /** The caller has no node. */
  private static long childOfLost(long state, int key) {
    int id = JTraceProbe.idOf(key);
    if (JTraceProbe.LOG) {
      return ARENA + ARENA_SINK_NODE;
    }
    if (state == ARENA) {
      countByRoutine(id, JTraceProbe.jitted(id));
      return ARENA + ARENA_SINK_NODE;
    }
    // The caller found no memory for a node, or for the thread's state; by now there may be some.
    long pruned = JTracePruner.prunedNodeOfRoot(state);
    if (pruned == 0) {
      countByRoutine(id, JTraceProbe.jitted(id));
      return ARENA + ARENA_SINK_NODE;
    }
    long child = lookUp(pruned, id);
    return child != 0 ? child : newChild(state, pruned, id);
  }

  /** Where an open call of id from {@code caller} was counted. Counts nothing. */
  static long childOfOpenCall(long state, long caller, long current, int pushedId) {
    if (caller == ARENA + ARENA_SINK_NODE) {
      return caller;
    }
    // The caller is still at the site of that call, unless it was folded.
    int key = JTraceProbe.key(caller, pushedId);
    int id = JTraceProbe.idOf(key);
    long child = lookUp(caller, key);
    if (child == 0 && key != id) {
      child = childOnPath(caller, current, id);
    }
    if (child == 0) {
      child = JTracePruner.findPrunedChild(state, caller, id);
    }
    return child != 0 ? child : ARENA + ARENA_SINK_NODE;
  }

  /** The child above {@code node}, or it itself, whatever its call site; 0: there is none. */
  private static long childOnPath(long caller, long node, int id) {
    int above = reference(caller);
    while (U.getInt(node + NODE_PARENT) != 0) {
      if (U.getInt(node + NODE_PARENT) == above) {
        return JTraceProbe.idOf(routine(node)) == id ? node : 0;
      }
      node = parent(node);
    }
    return 0;
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

  /** Counts a call that has no node in the thread's tree. */
  private static void countByRoutine(int id, boolean jitted) {
    U.putInt(ARENA + ARENA_LOST, 1);
    JTraceFlat.countShared(id, jitted);
  }

  /** The child, wherever it is; 0: there is none. */
  @DontInline
  static long lookUp(long node, int id) {
    long slot = JTraceSlots.slotOf(node, id);
    if (slot != 0) {
      return U.getLong(slot);
    }
    long table = JTraceSlots.table(node);
    long entry = table == 0 ? 0 : U.getLong(JTraceSlots.tableSlot(table, id));
    return entry == 0 ? 0 : at((int) (entry >>> 32));
  }

  @DontInline
  private static long newChild(long state, long parent, int id) {
    if (JTraceProbe.LOG) {
      // The log's reader knows of no node: nothing may be folded or represent something else.
      long node = makeChild(state, parent, id, ARENA_LIMIT);
      return node != 0 ? node : ARENA + ARENA_SINK_NODE;
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
      id = JTraceProbe.idOf(id);
      node = JTracePruner.prunedChild(state, parent, id);
    }
    if (node == 0) {
      countByRoutine(id, JTraceProbe.jitted(id));
      node = ARENA + ARENA_SINK_NODE;
    }
    return node;
  }

  /** A new node in the tree; 0: no memory. */
  @DontInline
  static long makeChild(long state, long parent, int id, int limit) {
    long slot = JTraceSlots.freeSlot(state, parent, id, limit);
    long node = slot == 0 ? 0 : JTraceMemory.allocateNode(state, limit);
    if (node == 0) {
      return 0;
    }
    U.putInt(node + NODE_ROUTINE, id);
    U.putLong(node + NODE_SLOTS, ARENA + ARENA_NO_SLOT);
    U.putInt(node + NODE_PARENT, reference(parent));
    U.putShort(node + NODE_DEPTH, (short) JTraceMemory.min(depth(parent) + 1, 0xFFFF));
    long last = at(U.getInt(state + STATE_LAST));
    // The order of creation is the order in which the writer thread reads the nodes.
    U.putIntRelease(null, last + NODE_NEXT, reference(node));
    U.putInt(state + STATE_LAST, reference(node));
    JTraceSlots.setSlot(parent, slot, node, id);
    return node;
  }
}
