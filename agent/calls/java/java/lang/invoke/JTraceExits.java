package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceTree.parent;
import static java.lang.invoke.JTraceTree.routine;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The test on exit (pruneexit=): when an activation ends and memory is short, its node goes if its
 * time with callees is below a share of its caller's. Only with a clock, and neither with
 * record=log nor with record=flat. What is cut off is counted as in {@link JTracePruner#prune}.
 *
 * <p>A thread may cut off as many nodes as its STATE_CUTS_LEFT says, which the agent's writer thread
 * renews each time it has looked at the thread's tree while memory is short. The writer's selection
 * of nodes may have one that is cut off here: then STATE_CUTS_MADE differs from when it began to
 * look, and the selection is discarded.
 */
final class JTraceExits {
  static final long ARENA = JTraceProbe.ARENA;
  /** The share; 0: no such test, and nodes have no room for what it needs. */
  private static final double SHARE;

  static {
    // Overwritten by the agent like the literals of JTraceProbe.
    long share = 0x4A54524143450031L;
    SHARE = Double.longBitsToDouble(share);
  }

  static final boolean ON = SHARE > 0;

  private static final Unsafe U = Unsafe.getUnsafe();
  private static final int STATE_LAST_PROBE = 80;
  private static final int STATE_CUTS_LEFT = 240;
  private static final int STATE_CUTS_MADE = 244;
  private static final int STATE_OFF = 248;
  /** Time of ended activations, callees included; when the current one began. */
  private static final int NODE_CUM =
      NODE_SIZE
          + NODE_TIMES_SIZE
          + (JTraceProbe.METRICS == 0 ? 0 : NODE_METRICS_SIZE)
          + (JTraceProbe.BLOCK_OWNERS == 0 ? 0 : NODE_BLOCKS_SIZE);
  private static final int NODE_ENTERED = NODE_CUM + 8;
  static final int NODE_CUM_SIZE = 64;

  private JTraceExits() {}

  /** The thread's clock without the time off the processors. */
  @ForceInline
  private static long now(long state) {
    return U.getLong(state + STATE_LAST_PROBE) - U.getLong(state + STATE_OFF);
  }

  /** An activation of the node begins: after its caller was charged. */
  @ForceInline
  static void begin(long state, long node) {
    if (node != ARENA + ARENA_SINK_NODE) {
      U.putLong(node + NODE_ENTERED, now(state));
    }
  }

  /** clock=cpu: so much of the time up to the mark was off the processors. */
  static void addOff(long state, long ticks) {
    U.putLong(state + STATE_OFF, U.getLong(state + STATE_OFF) + ticks);
  }

  /** The current activation of the node has ended; the thread is at a node above it. */
  @ForceInline
  static void end(long state, long node) {
    if (node == ARENA + ARENA_SINK_NODE) {
      return;
    }
    long now = now(state);
    long cum = U.getLong(node + NODE_CUM) + now - U.getLong(node + NODE_ENTERED);
    U.putLong(node + NODE_CUM, cum);
    if (U.getInt(state + STATE_CUTS_LEFT) > 0) {
      test(state, node, cum, now);
    }
  }

  @DontInline
  private static void test(long state, long node, long cum, long now) {
    if (U.getInt(node + NODE_PARENT) == 0) {
      return;
    }
    long caller = parent(node);
    long ofCaller = U.getLong(caller + NODE_CUM) + now - U.getLong(caller + NODE_ENTERED);
    if (cum >= SHARE * ofCaller || isNeeded(state, node, caller)) {
      return;
    }
    if (U.getLong(state + STATE_VICTIMS) != 0) {
      // First those that the writer thread has selected: they would be discarded.
      JTracePruner.prune(state, U.getLong(state + STATE_CURRENT));
      return;
    }
    JTracePruner.cutOff(node);
    U.putInt(state + STATE_CUTS_LEFT, U.getInt(state + STATE_CUTS_LEFT) - 1);
    U.putIntRelease(null, state + STATE_CUTS_MADE, U.getInt(state + STATE_CUTS_MADE) + 1);
  }

  /**
   * Sums of pruned calls stay. Where calls were folded, or are counted in a sum further up, nodes of
   * open activations may be below any node.
   */
  private static boolean isNeeded(long state, long node, long caller) {
    return routine(node) == PRUNED_ROUTINE
        || routine(caller) == PRUNED_ROUTINE
        || U.getInt(state + STATE_FOLD_WAYS) != 0
        || U.getInt(state + STATE_POSITION_IS_PRUNED) != 0
        || (U.getByte(node + NODE_FLAGS) & (NODE_CUT_OFF | NODE_FOLDS)) != 0;
  }

  /** How often the thread has cut off nodes here: see STATE_CUTS_MADE. */
  static int cutsMade(long state) {
    return ON ? U.getInt(state + STATE_CUTS_MADE) : 0;
  }
}
