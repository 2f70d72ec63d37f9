package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;
import static java.lang.invoke.JTraceRing.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * record=log: a record for every entry and exit, in a ring of the thread (JTraceRing) that the agent's
 * writer thread empties.
 *
 * <p>A record has 4 bytes, or 8 with its own time. Where the reader cannot keep up there is a
 * <em>gap</em>: calls are counted in the tree instead, until a part of the ring is free again. A
 * gap ends anywhere: a record gives the node of the tree where the thread then is. So log and tree
 * together are exact at any time. With overflow=wait the thread waits for room instead. When the log is stopped (logbudget=), the tree counts the rest.
 *
 * <p>The same record corrects the reader's position where calls ended without an exit, and where an
 * exception cut off a probe between its record and its move (STATE_LOG_MOVING).
 */
final class JTraceLog {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final int CLOCK = JTraceProbe.CLOCK;
  private static final int COARSE = 1;
  private static final int CPU = 3;
  private static final int ARENA_LOG_STOPPED = 904;
  private static final int STATE_LOG_GAP = 128;
  private static final int STATE_LOG_MOVING = 152;
  private static final int STATE_LOG_DROPPED = 160;
  private static final int STATE_LOG_TIME = 168;

  /** STATE_LOG_GAP once the log is over. */
  private static final int OVER = 1;

  private static final int EXIT = 2;
  private static final long VALUE_MASK = (1L << OP_BITS) - 1;
  /** The bits of a record with its own time, besides its kind. */
  private static final long OFF_AT_MOST = (1L << 64 - OP_BITS) - 1;

  /** A gap looks for room this often, in calls. */
  private static final int GAP_CALLS = 256;
  /** A part of the ring: a gap lasts until so much is free. */
  private static final int GAP_SHIFT = 2;

  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceLog() {}

  /** For a thread that gets its state. */
  static void begin(long state) {
    long now = CLOCK == 0 ? 0 : JTraceClock.now();
    U.putLong(state + STATE_LOG_TIME, now);
    JTraceRing.grow(state, now);
  }

  /** JTraceProbe.enter. */
  @ForceInline
  static long enter(long state, long current, int id) {
    boolean inOneGo = inOneGo();
    if (!inOneGo) {
      beginMove(state, current);
    }
    long child = JTraceProbe.child(state, current, id);
    boolean jitted = JTraceProbe.jitted(id);
    if (child == ARENA + ARENA_SINK_NODE) {
      JTraceTree.countWithoutNode(state, id, jitted);
    } else if (!append(state, id << 2 | (jitted ? 1 : 0))) {
      long dropped = U.getLong(state + STATE_LOG_DROPPED) + 1;
      if (U.getLong(state + STATE_LOG_GAP) > OVER && (dropped & (GAP_CALLS - 1)) != 0) {
        U.putLong(state + STATE_LOG_DROPPED, dropped);
        JTraceProbe.count(child, jitted);
      } else {
        enterSlowly(state, current, child, id << 2 | (jitted ? 1 : 0));
      }
    }
    U.putLong(state + STATE_CURRENT, child);
    if (!inOneGo) {
      U.putLong(state + STATE_LOG_MOVING, 0);
    }
    return current | (jitted ? 1 : 0);
  }

  /** JTraceProbe.exit. */
  @ForceInline
  static void exit(long state, long token) {
    long current = U.getLong(state + STATE_CURRENT);
    long to = token & ~1L;
    boolean inOneGo = inOneGo();
    if (!inOneGo) {
      beginMove(state, current);
    }
    long routineAndParent = U.getLong(current + NODE_ROUTINE);
    if (routineAndParent >>> 32 != (to - ARENA) >>> GRANULE_SHIFT) {
      move(state, current, to);
      return;
    }
    int op = (int) routineAndParent << 2 | EXIT | (int) token & 1;
    if (!append(state, op)) {
      long gap = U.getLong(state + STATE_LOG_GAP);
      if (gap <= OVER) {
        exitSlowly(state, current, to, op);
      } else if (gap == current) {
        U.putLong(state + STATE_LOG_GAP, to);
      }
    }
    U.putLong(state + STATE_CURRENT, to);
    if (!inOneGo) {
      U.putLong(state + STATE_LOG_MOVING, 0);
    }
  }

  /**
   * A probe that an exception cut off: the log's reader may not be where the thread is. For probes
   * that are called, which C2 compiles; C2's code does not check.
   */
  @ForceInline
  static void heal(long state) {
    if (U.getLong(state + STATE_LOG_MOVING) != 0) {
      writePosition(state, U.getLong(state + STATE_CURRENT));
      U.putLong(state + STATE_LOG_MOVING, 0);
    }
  }

  /** JTraceProbe.resume: an activation of {@code to} runs again after an exception. */
  static void resume(long state, long current, long to) {
    if (current != to || U.getLong(state + STATE_LOG_MOVING) != 0) {
      move(state, current, to);
    }
  }

  /**
   * Code of C2 makes no call between a record and the move that belongs to it, and has no safepoint
   * there: no exception cuts it off. Other code first notes that it is about to move.
   */
  @ForceInline
  private static boolean inOneGo() {
    return MethodHandleImpl.isCompileConstant("");
  }

  @ForceInline
  private static boolean append(long state, int op) {
    long next = U.getLong(state + STATE_LOG_NEXT);
    if (next >= U.getLong(state + STATE_LOG_LIMIT)) {
      return false;
    }
    if (CLOCK == COARSE && JTraceClock.now() != U.getLong(state + STATE_LOG_TIME)) {
      // The slow path records the time, and moves the thread before it returns: an exception there
      // must not separate a record and its move.
      return false;
    }
    long now = WIDE ? JTraceClock.stamp(state) : 0;
    if (CLOCK == CPU) {
      // The clock may have written its own record.
      next = U.getLong(state + STATE_LOG_NEXT);
      if (next >= U.getLong(state + STATE_LOG_LIMIT)) {
        return false;
      }
    }
    write(state, next, WIDE ? now << OP_BITS | op : op);
    return true;
  }

  // ---- Slow paths -------------------------------------------------------------------------------

  /** A probe that an exception cut off: the log's reader may not be where the thread is. */
  private static void beginMove(long state, long current) {
    if (U.getLong(state + STATE_LOG_MOVING) != 0) {
      writePosition(state, current);
    }
    U.putLong(state + STATE_LOG_MOVING, 1);
  }

  /** The thread continues at {@code to}: activations below it ended, usually without a probe. */
  private static void move(long state, long current, long to) {
    U.putLong(state + STATE_LOG_MOVING, 1);
    if (U.getLong(state + STATE_LOG_GAP) == OVER) {
      leaveInTree(state, current, to);
    } else if (current != ARENA + ARENA_SINK_NODE) {
      // The log knows nothing of the calls there.
      writePosition(state, to);
    }
    U.putLong(state + STATE_CURRENT, to);
    U.putLong(state + STATE_LOG_MOVING, 0);
  }

  private static void leaveInTree(long state, long current, long to) {
    if (CLOCK != 0) {
      JTraceClock.charge(state, current);
      if (JTraceTree.isBelow(current, to)) {
        for (long node = current; node != to; node = JTraceTree.parent(node)) {
          JTraceClock.close(node);
        }
      }
    }
  }

  /** Puts the log's reader at {@code node}. */
  private static void writePosition(long state, long node) {
    long gap = U.getLong(state + STATE_LOG_GAP);
    if (gap == OVER || node == ARENA + ARENA_SINK_NODE) {
      return;
    }
    if (gap != 0) {
      while (!JTraceTree.isBelow(node, gap)) {
        gap = JTraceTree.parent(gap);
      }
      U.putLong(state + STATE_LOG_GAP, gap);
      return;
    }
    if (!hasRoom(state, 4 * RECORD)) {
      beginGap(state, node);
      return;
    }
    long now = CLOCK == 0 ? 0 : JTraceClock.stamp(state);
    if (passTime(state, now) && free(state) >= RECORD) {
      put(state, KIND_AT, reference(node));
    } else {
      beginGap(state, node);
    }
  }

  /** A record that {@link #append} had no room for, or one with its own time. */
  private static void enterSlowly(long state, long current, long child, int op) {
    U.putLong(state + STATE_LOG_MOVING, 1);
    if (!appendSlowly(state, current, op)) {
      if (U.getLong(state + STATE_LOG_GAP) == 0) {
        beginGap(state, current);
      }
      U.putLong(state + STATE_LOG_DROPPED, U.getLong(state + STATE_LOG_DROPPED) + 1);
      JTraceProbe.count(child, (op & 1) != 0);
    }
    U.putLong(state + STATE_CURRENT, child);
    U.putLong(state + STATE_LOG_MOVING, 0);
  }

  private static void exitSlowly(long state, long current, long to, int op) {
    U.putLong(state + STATE_LOG_MOVING, 1);
    if (!appendSlowly(state, current, op)) {
      long gap = U.getLong(state + STATE_LOG_GAP);
      if (gap == 0) {
        beginGap(state, to);
      } else if (gap == OVER && CLOCK != 0) {
        JTraceClock.close(current);
      } else if (gap == current) {
        U.putLong(state + STATE_LOG_GAP, to);
      }
    }
    U.putLong(state + STATE_CURRENT, to);
    U.putLong(state + STATE_LOG_MOVING, 0);
  }

  private static boolean appendSlowly(long state, long current, int op) {
    boolean inWindow = U.getLong(state + STATE_LOG_NEXT) < U.getLong(state + STATE_LOG_LIMIT);
    if (inWindow && appendWithTime(state, op)) {
      return true;
    }
    boolean goesOn = goesOn(state, current);
    if (goesOn && appendWithTime(state, op)) {
      return true;
    }
    // A window may end at once, with the ring: the time's record was the last one before that.
    return goesOn && waits() && goesOn(state, current) && appendWithTime(state, op);
  }

  private static boolean appendWithTime(long state, int op) {
    if (CLOCK != COARSE) {
      return append(state, op);
    }
    if (!passTime(state, JTraceClock.now())) {
      return false;
    }
    long next = U.getLong(state + STATE_LOG_NEXT);
    if (next >= U.getLong(state + STATE_LOG_LIMIT)) {
      return false;
    }
    write(state, next, op);
    return true;
  }

  /**
   * Whether the log has room for the thread, which is at {@code current}. A position is written
   * first: after a gap, in a recording after the one whose log was stopped, and from time to time
   * for readers that have lost a part of the trace.
   */
  private static boolean goesOn(long state, long current) {
    long gap = U.getLong(state + STATE_LOG_GAP);
    if (U.getLong(ARENA + ARENA_LOG_STOPPED) != 0) {
      if (gap != OVER) {
        endLog(state, gap);
      } else if (CLOCK != 0) {
        JTraceClock.charge(state, current);
      }
      return false;
    }
    if (gap == OVER) {
      gap = at(U.getInt(state + STATE_ROOT));
      U.putLong(state + STATE_LOG_DROPPED, 0);
      U.putLong(state + STATE_LOG_GAP, gap);
    }
    if (free(state) <= size(state) >>> 1) {
      // The reader does not keep up, or there was no memory for a ring.
      grow(state, U.getLong(state + STATE_LOG_TIME));
    }
    long least = gap == 0 && !waits() ? 2 * RECORD : size(state) >>> GAP_SHIFT;
    if (!hasRoom(state, least) || gap != 0 && !putDropped(state, gap)) {
      return false;
    }
    put(state, KIND_AT, reference(current));
    U.putLong(state + STATE_LOG_GAP, 0);
    return openWindow(state);
  }

  /** Puts the log's reader at {@code node}, an ancestor of the current node or that itself. */
  private static void beginGap(long state, long node) {
    U.putLong(state + STATE_LOG_LIMIT, 0);
    U.putLong(state + STATE_LOG_DROPPED, 0);
    U.putLong(state + STATE_LOG_GAP, node);
  }

  /** No more records: all activations end for the log, the tree has a clock from now on. */
  private static void endLog(long state, long gap) {
    long root = at(U.getInt(state + STATE_ROOT));
    if (gap == 0) {
      writePosition(state, root);
      if (U.getLong(state + STATE_LOG_GAP) != 0) {
        return;
      }
    } else {
      if (!putDropped(state, gap)) {
        return;
      }
      put(state, KIND_AT, reference(root));
    }
    U.putLong(state + STATE_LOG_LIMIT, 0);
    U.putLong(state + STATE_LOG_GAP, OVER);
    if (CLOCK != 0) {
      JTraceClock.restart(state);
    }
  }

  /**
   * The calls that were left out, and their time. {@code gap}: the innermost activation that has
   * been open throughout. Leaves room for a record.
   */
  private static boolean putDropped(long state, long gap) {
    long dropped = U.getLong(state + STATE_LOG_DROPPED);
    long most = VALUE_MASK;
    if (free(state) < (8 + dropped / most) * RECORD) {
      return false;
    }
    put(state, KIND_AT, reference(gap));
    if (CLOCK != 0 && (!passTime(state, JTraceClock.stamp(state)) || free(state) < 4 * RECORD)) {
      return false;
    }
    for (; dropped != 0; dropped = U.getLong(state + STATE_LOG_DROPPED)) {
      if (free(state) < 2 * RECORD) {
        return false;
      }
      long part = JTraceMemory.min(dropped, most);
      put(state, KIND_DROPPED, part);
      U.putLong(state + STATE_LOG_DROPPED, dropped - part);
    }
    return true;
  }

  /**
   * Gives the next record without its own time this one. Returns whether there was room. A part
   * written twice, because an exception cut this off, means the same.
   */
  private static boolean passTime(long state, long now) {
    if (!hasRoom(state, 2 * RECORD)) {
      return false;
    }
    if (WIDE) {
      put(state, KIND_TIME, now);
      return true;
    }
    // Microseconds, of which the tick has whole ones.
    long micros = now / 1000;
    long recorded = U.getLong(state + STATE_LOG_TIME) / 1000;
    if (micros >>> OP_BITS != recorded >>> OP_BITS) {
      put(state, KIND_TIME_HIGH, micros >>> OP_BITS & VALUE_MASK);
    }
    if (micros != recorded) {
      put(state, KIND_TIME, micros & VALUE_MASK);
    }
    U.putLong(state + STATE_LOG_TIME, now);
    return true;
  }

  /**
   * clock=cpu: the thread was off the processors since its last record, for so many ticks: the sum
   * of adjacent records. Without room for them a gap has to begin, whose time is charged to
   * nothing: it must not become the processor time of a method.
   */
  static void off(long state, long ticks) {
    for (long part; ticks > 0; ticks -= part) {
      if (!hasRoom(state, 2 * RECORD)) {
        U.putLong(state + STATE_LOG_LIMIT, 0);
        return;
      }
      part = JTraceMemory.min(ticks, OFF_AT_MOST);
      put(state, KIND_OFF, part);
    }
  }
}
