package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;
import static java.lang.invoke.JTraceTree.parent;
import static java.lang.invoke.JTraceTree.routine;

import jdk.internal.misc.Unsafe;

/**
 * Keeps trees within their memory: folds deep recursion, cuts off the nodes that the agent's writer
 * thread has selected, and finds a node for calls that cannot have their own. Not with record=log.
 */
final class JTracePruner {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTracePruner() {}

  /**
   * The innermost activation of id (a key: JTraceProbe.key) on the path that was called by the
   * routine of caller, from the same call site in it; 0: there is none within maxdepth= levels, so that
   * a cycle of more calls is not folded.
   */
  private static long sameArcAbove(long caller, int id) {
    int callerId = JTraceProbe.idOf(routine(caller));
    long node = caller;
    for (int left = U.getInt(ARENA + ARENA_MAX_DEPTH); left > 0; left--) {
      int parent = U.getInt(node + NODE_PARENT);
      if (parent == 0) {
        break;
      }
      if (routine(node) == id && JTraceProbe.idOf(routine(at(parent))) == callerId) {
        return node;
      }
      node = at(parent);
    }
    return 0;
  }

  /**
   * At the depth limit: the node further up where calls of id from caller are counted from now on;
   * 0: there is none. The caller is then no longer on the path of the current node, though it has
   * an activation: it must never be pruned, and a selection of nodes to prune must be repeated.
   */
  static long fold(long state, long caller, int id) {
    long target = sameArcAbove(caller, id);
    if (target == 0) {
      return 0;
    }
    setFlag(caller, NODE_FOLDS);
    U.putIntRelease(null, state + STATE_FOLD_WAYS, U.getInt(state + STATE_FOLD_WAYS) + 1);
    long slot = JTraceSlots.freeSlot(state, caller, id, ARENA_LIMIT);
    if (slot != 0) {
      JTraceSlots.setSlot(caller, slot, target, id);
    }
    return target;
  }

  private static void setFlag(long node, int flag) {
    U.putByteRelease(null, node + NODE_FLAGS, (byte) (U.getByte(node + NODE_FLAGS) | flag));
  }

  private static boolean hasFlag(long node, int flags) {
    return (U.getByte(node + NODE_FLAGS) & flags) != 0;
  }

  // ---- Little memory ----------------------------------------------------------------------------

  /**
   * The node that counts calls of id from parent for which there is no memory: one for each routine
   * below a [pruned] node, so that counts by routine stay exact; 0: no memory for that either.
   */
  static long prunedChild(long state, long parent, int id) {
    long pruned = prunedNodeAt(state, parent);
    if (pruned == 0 && U.getInt(parent + NODE_PARENT) != 0) {
      pruned = JTraceTree.makeChild(state, parent, PRUNED_ROUTINE, ARENA_RESERVE_LIMIT);
    }
    long node = pruned == 0 ? 0 : childOfPruned(state, pruned, id, ARENA_RESERVE_LIMIT);
    if (node == 0) {
      U.putInt(state + STATE_POSITION_IS_PRUNED, 1);
      node = findFurtherUp(parent, id);
    }
    return node != 0 ? node : prunedChildOfRoot(state, id);
  }

  /** The same if it exists: where an open call of id from parent was counted. */
  static long findPrunedChild(long state, long parent, int id) {
    long pruned = prunedNodeAt(state, parent);
    long node = pruned == 0 ? 0 : JTraceTree.lookUp(pruned, id);
    if (node == 0) {
      U.putInt(state + STATE_POSITION_IS_PRUNED, 1);
      node = findFurtherUp(parent, id);
    }
    int ofRoot = U.getInt(state + STATE_PRUNED);
    return node != 0 || ofRoot == 0 ? node : JTraceTree.lookUp(at(ofRoot), id);
  }

  /** The [pruned] node for calls from parent; 0: there is none yet. */
  private static long prunedNodeAt(long state, long parent) {
    if (routine(parent) == PRUNED_ROUTINE) {
      return parent;
    }
    // A sum itself: its calls are counted beside it, which leaves the path of open activations.
    long above = U.getInt(parent + NODE_PARENT) == 0 ? 0 : parent(parent);
    if (above != 0 && routine(above) == PRUNED_ROUTINE) {
      U.putInt(state + STATE_POSITION_IS_PRUNED, 1);
      return above;
    }
    return JTraceTree.lookUp(parent, PRUNED_ROUTINE);
  }

  /** A node for id below the [pruned] node of an ancestor: the current node leaves the path. */
  private static long findFurtherUp(long parent, int id) {
    for (long above = parent; U.getInt(above + NODE_PARENT) != 0; above = parent(above)) {
      long pruned = JTraceTree.lookUp(above, PRUNED_ROUTINE);
      long node = pruned == 0 ? 0 : JTraceTree.lookUp(pruned, id);
      if (node != 0) {
        return node;
      }
    }
    return 0;
  }

  /** The node for id below the root's [pruned] node; 0: there is no memory for it. */
  static long prunedChildOfRoot(long state, int id) {
    long pruned = prunedNodeOfRoot(state);
    return pruned == 0 ? 0 : childOfPruned(state, pruned, id, ARENA_STATE_LIMIT);
  }

  private static long childOfPruned(long state, long pruned, int id, int limit) {
    long node = JTraceTree.lookUp(pruned, id);
    return node != 0 ? node : JTraceTree.makeChild(state, pruned, id, limit);
  }

  /**
   * The root's [pruned] node. Threads have one from the start, except virtual ones, of which there
   * may be very many; 0: there is no memory for it. It is never pruned itself.
   */
  static long prunedNodeOfRoot(long state) {
    int pruned = U.getInt(state + STATE_PRUNED);
    if (pruned != 0) {
      return at(pruned);
    }
    long root = at(U.getInt(state + STATE_ROOT));
    long node = JTraceTree.makeChild(state, root, PRUNED_ROUTINE, ARENA_STATE_LIMIT);
    if (node != 0) {
      U.putIntRelease(null, state + STATE_PRUNED, reference(node));
    }
    return node;
  }

  /**
   * Cuts off the nodes that the writer thread has selected, except those above the current node:
   * every token is there, or it was folded (see fold), or its node is in a [pruned] node that is
   * not its caller's.
   */
  static void prune(long state, long node) {
    long victims = U.getLongAcquire(null, state + STATE_VICTIMS);
    int changes = U.getInt(state + STATE_FOLD_WAYS) + JTraceExits.cutsMade(state);
    if (U.getInt(victims + VICTIMS_FOLD_WAYS) == changes) {
      if (isAway(state, node)) {
        return;
      }
      long current = U.getLong(state + STATE_CURRENT);
      setPathFlag(node, NODE_ON_PATH);
      if (current != ARENA + ARENA_SINK_NODE) {
        setPathFlag(current, NODE_ON_PATH);
      }
      int count = U.getInt(victims + VICTIMS_COUNT);
      for (int i = 0; i < count; i++) {
        long victim = at(U.getInt(victims + VICTIMS_NODES + 4L * i));
        if (!hasFlag(victim, NODE_CUT_OFF | NODE_ON_PATH | NODE_FOLDS)) {
          cutOff(victim);
        }
      }
      setPathFlag(node, 0);
      if (current != ARENA + ARENA_SINK_NODE) {
        setPathFlag(current, 0);
      }
    }
    U.putLongRelease(null, state + STATE_VICTIMS, 0);
  }

  private static boolean isAway(long state, long node) {
    if (U.getInt(state + STATE_POSITION_IS_PRUNED) == 0) {
      return false;
    }
    for (long above = node; U.getInt(above + NODE_PARENT) != 0; above = parent(above)) {
      if (routine(above) == PRUNED_ROUTINE) {
        return true;
      }
    }
    U.putInt(state + STATE_POSITION_IS_PRUNED, 0);
    return false;
  }

  /** Sets or clears NODE_ON_PATH of the node and its ancestors. */
  private static void setPathFlag(long node, int flag) {
    for (; ; ) {
      U.putByte(node + NODE_FLAGS, (byte) (U.getByte(node + NODE_FLAGS) & ~NODE_ON_PATH | flag));
      int parent = U.getInt(node + NODE_PARENT);
      if (parent == 0) {
        return;
      }
      node = at(parent);
    }
  }

  /** First the node becomes unreachable, then the writer thread may take it. */
  static void cutOff(long node) {
    JTraceSlots.cutOff(node);
    setFlag(node, NODE_CUT_OFF);
  }
}
