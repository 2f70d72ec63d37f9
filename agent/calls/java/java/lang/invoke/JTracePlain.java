package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The probes of trees of calls alone: no clock, log, metric or call site.
 *
 * <p>One branch, and one call that is hardly ever made: what C2 compiles in each probed method that
 * it inlines is most of what probes cost a program that runs for some seconds. Their bytecodes
 * also count when C2 decides what else to inline: short methods, and no others around Unsafe's
 * intrinsics, which {@code getLong(address)} would be.
 */
final class JTracePlain {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();

  private JTracePlain() {}

  /** The thread has entered something, so its state is known. */
  @ForceInline
  static void exit(long token) {
    U.putLong(null, JTraceCurrent.knownState() + STATE_CURRENT, token);
  }

  @ForceInline
  static long enter(int id) {
    long state = JTraceCurrent.knownState();
    long current = U.getLong(null, state + STATE_CURRENT);
    long child = childInSlot(current, id);
    if (U.getInt(null, child + NODE_ROUTINE) != id) {
      return enterMissed(id, JTraceProbe.jitted(id));
    }
    JTraceProbe.count(child, JTraceProbe.jitted(id));
    U.putLong(null, state + STATE_CURRENT, child);
    return current;
  }

  @ForceInline
  private static long childInSlot(long node, int id) {
    int offset = id << 3 & U.getChar(null, node + NODE_MASK);
    return U.getLong(null, U.getLong(null, node + NODE_SLOTS) + offset);
  }

  /** The thread's first call, or one whose node is not in its slot. */
  @DontInline
  private static long enterMissed(int id, boolean jitted) {
    long state = JTraceCurrent.state();
    long current = U.getLong(state + STATE_CURRENT);
    long child = JTraceProbe.child(state, current, id);
    JTraceProbe.count(child, jitted);
    U.putLong(state + STATE_CURRENT, child);
    return current;
  }

  @ForceInline
  static void leaf(int id) {
    long child = childInSlot(U.getLong(null, JTraceCurrent.knownState() + STATE_CURRENT), id);
    if (U.getInt(null, child + NODE_ROUTINE) == id) {
      JTraceProbe.count(child, JTraceProbe.jitted(id));
    } else {
      leafMissed(id, JTraceProbe.jitted(id));
    }
  }

  @DontInline
  private static void leafMissed(int id, boolean jitted) {
    long state = JTraceCurrent.state();
    JTraceProbe.count(JTraceProbe.child(state, U.getLong(state + STATE_CURRENT), id), jitted);
  }
}
