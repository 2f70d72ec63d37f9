package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The probes that rewritten methods call.
 *
 * <p>Defined into java.base by the agent at VMInit. Every thread has its own calling-context tree
 * in off-heap memory; {@link #enter} moves the thread's current node to the child for the method
 * and counts, {@link #exit} moves it back. Only the owning thread writes to its tree; the agent's
 * writer thread and the sampling signal handler read it at any time (agent/signal_safe/arena.h is the same
 * layout for C++, agent/calls/README.md gives the reasons).
 *
 * <p>A reference to a node, state, table or chunk is its offset from the arena in granules of 64
 * bytes. Slow paths may be cut off by a StackOverflowError at any call, so every store leaves the
 * structures consistent: at worst memory is leaked or a node exists twice.
 */
public final class JTraceProbe {
  /** Address of the arena. */
  static final long ARENA;
  /** record=flat, else trees. */
  static final boolean FLAT;
  /** record=log: calls go to the thread's log, and into its tree when that has no room. */
  static final boolean LOG;
  /** The clock read at entry and exit (JTraceClock); 0: nothing. */
  static final int CLOCK;
  /** The metrics charged to call paths (JTraceCharges); 0: none. Not with FLAT or LOG. */
  static final long METRICS;
  /** blocks=on: the address of the counters that threads share; 0: blocks are not counted. */
  static final long BLOCKS;
  /** blocks=paths: the address of BlockOwners, by id; 0: blocks are not counted by call path. */
  static final long BLOCK_OWNERS;
  /** sites=on: children are distinguished by the call site in their caller, too. */
  static final boolean CALL_SITES;
  /** Trees of calls alone: the probes have the short forms of JTracePlain. */
  static final boolean PLAIN;
  /**
   * Offset of spare bytes in java.lang.Thread that hold the state's offset from the arena, 0 as
   * long as the thread has none; 0: there are no such bytes.
   */
  static final long THREAD_SPARE;

  static {
    // The agent overwrites these literals in the constant pool before it defines the class
    // (probe_class.h). Assigned here, so that javac does not fold them into other constants.
    ARENA = 0x4A54524143450001L;
    long flat = 0x4A54524143450002L;
    FLAT = flat != 0;
    THREAD_SPARE = 0x4A54524143450003L;
    long log = 0x4A54524143450004L;
    LOG = log != 0;
    long clock = 0x4A54524143450005L;
    CLOCK = (int) clock;
    METRICS = 0x4A54524143450006L;
    BLOCKS = 0x4A54524143450007L;
    BLOCK_OWNERS = 0x4A5452414345000BL;
    long callSites = 0x4A54524143450009L;
    CALL_SITES = callSites != 0;
    PLAIN = !LOG && CLOCK == 0 && METRICS == 0 && !CALL_SITES;
  }

  private static final Unsafe U = Unsafe.getUnsafe();

  /** An element is a compile-time constant exactly if its index is. */
  @Stable private static final Object[] CONSTANT = {"", ""};

  private JTraceProbe() {}

  /** Method entry. Returns the token: the node that was current before; in a log, bit 0: jitted. */
  @ForceInline
  public static long enter(int id) {
    if (!isC2()) {
      return enterOutOfLine(id);
    }
    return PLAIN ? JTracePlain.enter(id) : enterInlined(id);
  }

  /** Before a call out of scope whose time depends on others. */
  @ForceInline
  public static long enterTimed(int id) {
    long token = enter(id);
    JTraceOutside.begin(JTraceCurrent.state());
    return token;
  }

  /** Before a call out of scope that takes a time for each element, of which it gets {@code n}. */
  @ForceInline
  public static long enterElements(int n, int id) {
    long token = enter(id);
    JTraceOutside.addElements(JTraceCurrent.state(), n);
    return token;
  }

  /** The same for those of an array or a String. */
  @ForceInline
  public static long enterElements(Object of, int id) {
    long token = enter(id);
    JTraceOutside.addElements(JTraceCurrent.state(), JTraceOutside.elementsOf(of));
    return token;
  }

  /** Before a read: a call that waits for the user, if it is of descriptor 0; else nothing, 0. */
  public static long enterInput(int id, Object of) {
    return JTraceOutside.isInput(of) ? enter(id) : 0;
  }

  /** After that. */
  public static void exitInput(long token) {
    if (token != 0) {
      exit(token);
    }
  }

  /** record=flat: before a read. */
  public static void countInput(int id, Object of) {
    if (JTraceOutside.isInput(of)) {
      count(id);
    }
  }

  /** Method exit: also heals activations above that ended unseen. */
  @ForceInline
  public static void exit(long token) {
    if (!isC2()) {
      exitElsewhere(token);
    } else if (PLAIN && THREAD_SPARE != 0) {
      JTracePlain.exit(token);
    } else {
      exitHere(token);
    }
  }

  /**
   * Exit by an exception, which takes some microseconds: a call, because C2 would compile the probe
   * into the handler of every method that calls another.
   */
  @DontInline
  public static void exitThrown(long token) {
    exitElsewhere(token);
  }

  /**
   * Code of C2 contains the probe's own code. In C1, which cannot fold most of it, that would make
   * frames three to twelve times as large, and so the depth of recursion a third to a twelfth; its
   * code, and the interpreter, call a method that C2 compiles soon.
   */
  @ForceInline
  static boolean isC2() {
    return MethodHandleImpl.isCompileConstant("");
  }

  @DontInline
  private static long enterOutOfLine(int id) {
    if (LOG) {
      JTraceLog.heal(JTraceCurrent.state());
    }
    return PLAIN ? JTracePlain.enter(id) : enterInlined(id);
  }

  @DontInline
  private static void exitElsewhere(long token) {
    if (LOG) {
      JTraceLog.heal(JTraceCurrent.state());
    }
    if (PLAIN && THREAD_SPARE != 0) {
      JTracePlain.exit(token);
    } else {
      exitHere(token);
    }
  }

  @ForceInline
  private static long enterInlined(int id) {
    long state = JTraceCurrent.state();
    long current = U.getLong(state + STATE_CURRENT);
    if (LOG) {
      return JTraceLog.enter(state, current, id);
    }
    if (METRICS != 0) {
      JTraceCharges.charge(state, current);
    }
    if (CLOCK != 0) {
      JTraceClock.charge(state, current);
    }
    long token = current;
    if (METRICS != 0 && JTraceOutside.TIMED && JTraceOutside.isRunning(state)) {
      JTraceOutside.stop(state, current);
      token |= JTraceOutside.TIMED_CALLER;
    }
    long child = child(state, current, id);
    count(child, jitted(id));
    if (CLOCK != 0 && JTraceExits.ON) {
      JTraceExits.begin(state, child);
    }
    U.putLong(state + STATE_CURRENT, child);
    return token;
  }

  @ForceInline
  private static void exitHere(long token) {
    long state = JTraceCurrent.state();
    if (LOG) {
      JTraceLog.exit(state, token);
      return;
    }
    if (METRICS != 0) {
      JTraceCharges.charge(state, U.getLong(state + STATE_CURRENT));
      if (JTraceOutside.TIMED) {
        token = JTraceOutside.leave(state, token);
      }
    }
    if (CLOCK == 0) {
      U.putLong(state + STATE_CURRENT, token);
      return;
    }
    long current = U.getLong(state + STATE_CURRENT);
    JTraceClock.charge(state, current);
    U.putLong(state + STATE_CURRENT, token);
    leave(state, current, token);
  }

  /** At a catch handler: the method that got {@code token} runs again. Counts nothing. */
  public static void resume(long token, int id) {
    long state = JTraceCurrent.state();
    long current = U.getLong(state + STATE_CURRENT);
    if (LOG) {
      JTraceLog.resume(state, current, child(state, token & ~1L, id));
      return;
    }
    if (METRICS != 0) {
      JTraceCharges.charge(state, current);
      if (JTraceOutside.TIMED && JTraceOutside.isRunning(state)) {
        JTraceOutside.stop(state, current);
      }
      token &= ~JTraceOutside.TIMED_CALLER;
    }
    if (CLOCK != 0) {
      JTraceClock.charge(state, current);
    }
    long target = JTraceTree.childOfOpenCall(state, token, current, id);
    U.putLong(state + STATE_CURRENT, target);
    if (CLOCK != 0) {
      leave(state, current, target);
    }
  }

  /** Replaces enter and exit in methods that call nothing. */
  @ForceInline
  public static void leaf(int id) {
    if (!isC2()) {
      leafElsewhere(id);
    } else if (PLAIN) {
      JTracePlain.leaf(id);
    } else {
      leafHere(id);
    }
  }

  @DontInline
  private static void leafElsewhere(int id) {
    if (PLAIN) {
      JTracePlain.leaf(id);
    } else {
      leafHere(id);
    }
  }

  @ForceInline
  private static void leafHere(int id) {
    if (LOG || CLOCK != 0 || (METRICS != 0 && JTraceCharges.ANY)) {
      exit(enter(id));
      return;
    }
    long state = JTraceCurrent.state();
    if (METRICS != 0 && JTraceOutside.TIMED && JTraceOutside.isRunning(state)) {
      exit(enter(id));
      return;
    }
    long current = U.getLong(state + STATE_CURRENT);
    count(child(state, current, id), jitted(id));
  }

  /** sites=on: the running activation's next calls are from this call site, by its number. */
  @ForceInline
  public static void at(int callSite) {
    if (isC2()) {
      atHere(callSite);
    } else {
      atElsewhere(callSite);
    }
  }

  @DontInline
  private static void atElsewhere(int callSite) {
    atHere(callSite);
  }

  @ForceInline
  private static void atHere(int callSite) {
    U.putChar(U.getLong(JTraceCurrent.state() + STATE_CURRENT) + NODE_CALL_SITE, (char) (HAS_CALL_SITE | callSite));
  }

  /** Before a bytecode that allocates: counts it for the thread, as an event. */
  @ForceInline
  public static void allocation() {
    JTraceCharges.countAllocation(U.getLong(JTraceCurrent.state() + STATE_COUNTERS));
  }

  /** record=flat: the only probe. */
  @ForceInline
  public static void count(int id) {
    if (isC2()) {
      JTraceFlat.count(id);
    } else {
      JTraceFlat.countElsewhere(id);
    }
  }

  @ForceInline
  static long child(long state, long node, int id) {
    if (CALL_SITES) {
      return childOfCallSite(state, node, id);
    }
    long child = U.getLong(U.getLong(node + NODE_SLOTS) + (id << 3 & U.getChar(node + NODE_MASK)));
    return U.getInt(child + NODE_ROUTINE) == id ? child : JTraceTree.findChild(state, node, id);
  }

  /**
   * The call site is not needed for the address of the child: that would wait for a store just before.
   * Most routines are called from one call site of their caller, which is in the first slot.
   */
  @ForceInline
  private static long childOfCallSite(long state, long node, int id) {
    int key = key(node, id);
    long child = U.getLong(U.getLong(node + NODE_SLOTS) + (id << 3 & U.getChar(node + NODE_MASK)));
    return U.getInt(child + NODE_ROUTINE) == key
        ? child
        : JTraceTree.findChildOfCallSite(state, node, key);
  }

  /** What NODE_ROUTINE has for a call of id from {@code node}. */
  @ForceInline
  static int key(long node, int id) {
    int callSite = CALL_SITES && id < CALL_SITE_IDS ? U.getChar(node + NODE_CALL_SITE) : 0;
    return id & ~WITHOUT_CALL_SITE | callSite << CALL_SITE_SHIFT;
  }

  /** The id in NODE_ROUTINE. */
  static int idOf(int key) {
    return key >= 0 ? key : key & (CALL_SITE_IDS - 1);
  }

  @ForceInline
  static void count(long node, boolean jitted) {
    long counter = node + (jitted ? NODE_JITTED : NODE_INTERPRETED);
    U.putLong(null, counter, U.getLong(null, counter) + 1);
  }

  /**
   * Whether the method that pushed the constant {@code id} runs compiled. C2 answers at compile
   * time; a separately compiled probe that the interpreter calls has no constant id. C1 code cannot
   * detect it: the agent's knowledge of the method decides.
   */
  @ForceInline
  static boolean jitted(int id) {
    return MethodHandleImpl.isCompileConstant(CONSTANT[id >>> 31]) || hasCode(id);
  }

  @ForceInline
  private static boolean hasCode(int id) {
    return U.getByte(ARENA + ARENA_COMPILED + (id & (COMPILED_COUNT - 1))) != 0;
  }

  // ---- Slow paths -------------------------------------------------------------------------------

  /**
   * The thread continued from an activation of {@code from} in the one of {@code to}: those in
   * between ended, usually without a probe at their exit.
   */
  @ForceInline
  private static void leave(long state, long from, long to) {
    if (U.getInt(from + NODE_PARENT) == (int) ((to - ARENA) >>> GRANULE_SHIFT)) {
      JTraceClock.close(from);
      if (JTraceExits.ON) {
        JTraceExits.end(state, from);
      }
    } else if (JTraceTree.isBelow(from, to)) {
      closeAll(state, from, to);
    } else {
      // A call that is counted further up: folded, or without memory.
      JTraceClock.close(from);
    }
  }

  private static void closeAll(long state, long from, long to) {
    for (long node = from; node != to; node = JTraceTree.parent(node)) {
      JTraceClock.close(node);
      if (JTraceExits.ON) {
        JTraceExits.end(state, node);
      }
    }
  }
}
