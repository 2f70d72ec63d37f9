package java.lang.invoke;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The clock of the probes: which node gets the time since the thread's last probe.
 *
 * <p>The time-stamp counter is read by a native function that C2 calls without leaving Java
 * (agent/calls/README.md has the costs of the alternatives). Units: those of {@link #ticks}, or
 * nanoseconds with clock=coarse; the collector converts them to nanoseconds.
 *
 * <p>clock=cpu: the kernel clears a word of the thread when it was off the processor (struct rseq).
 * Then the interval is split, by the thread's processor time. The word does not show when a
 * hypervisor takes the processor itself away, so the processor time is also read every {@link
 * #SYNC_NANOS}.
 */
public final class JTraceClock {
  // signal_safe::ProbeClock
  private static final int COARSE = 1;
  private static final int TSC = 2;
  private static final int CPU = 3;

  private static final long ARENA = JTraceProbe.ARENA;
  private static final int CLOCK = JTraceProbe.CLOCK;
  /** Whether each reading costs a call, and differs from the one before. */
  static final boolean FINE = CLOCK > COARSE;

  private static final int ARENA_TICK = 896;
  /** The thread's word refers to this as long as the thread stays on its processor. */
  private static final int ARENA_RSEQ = 928;
  /** A word for threads that have none. */
  private static final int ARENA_ALWAYS_ON = 992;
  private static final int STATE_LAST_PROBE = 80;
  private static final int STATE_CPU_SYNC = 88;
  private static final int STATE_CPU_SYNC_TICKS = 96;
  private static final int STATE_RSEQ = 104;
  private static final int NODE_BASE = 64;
  private static final int NODE_BASE_START = 72;
  private static final int NODE_LEAST = 80;
  private static final int NODE_GREATEST = 88;
  private static final int NODE_OFF = 96;

  private static final Unsafe U = Unsafe.getUnsafe();
  private static final long EETOP = U.objectFieldOffset(Thread.class, "eetop");

  /** ()long, the time-stamp counter; null: not used. */
  private static final MethodHandle TICKS;
  /** ()long: processor time of the thread in nanoseconds; address of its word in struct rseq. */
  private static final MethodHandle CPU_NANOS;
  private static final MethodHandle RSEQ_WORD;
  private static final double TICKS_PER_NANO;

  /** How long only the word is trusted: reading the processor time costs half a microsecond. */
  private static final long SYNC_NANOS = 100_000;
  /** Time off the processors that the word did not show; below it the two clocks may differ. */
  private static final long LEAST_UNREPORTED_NANOS = 5_000;
  /** More than this between two readings means an interruption. */
  private static final long PAIR_NANOS = 5_000;
  private static final int PAIR_TRIES = 4;
  private static final long SYNC_TICKS;
  private static final long LEAST_UNREPORTED_TICKS;
  private static final long PAIR_TICKS;

  static {
    // Overwritten by the agent like the literals of JTraceProbe.
    long ticksFunction = 0x4A54524143450011L;
    long ticksPerNano = 0x4A54524143450012L;
    TICKS = CLOCK == TSC || CLOCK == CPU ? leafHandle(ticksFunction) : null;
    TICKS_PER_NANO = TICKS == null ? 1 : Double.longBitsToDouble(ticksPerNano);
    SYNC_TICKS = (long) (SYNC_NANOS * TICKS_PER_NANO);
    LEAST_UNREPORTED_TICKS = (long) (LEAST_UNREPORTED_NANOS * TICKS_PER_NANO);
    PAIR_TICKS = (long) (PAIR_NANOS * TICKS_PER_NANO);
    CPU_NANOS = CLOCK == CPU ? jniHandle("cpuNanos") : null;
    RSEQ_WORD = CLOCK == CPU ? jniHandle("rseqWord") : null;
    for (MethodHandle handle : new MethodHandle[] {TICKS, CPU_NANOS, RSEQ_WORD}) {
      settle(handle);
    }
  }

  private JTraceClock() {}

  /** Whether times are those of the time-stamp counter, not of System.nanoTime. */
  static boolean countsTicks() {
    return TICKS != null && ticks() != 0;
  }

  /** For a thread that gets its state. */
  static void begin(long state) {
    if (CLOCK == CPU) {
      // A virtual thread has no processor time: a word that always says "not off".
      boolean virtual = U.getLong(Thread.currentThread(), EETOP) == 0;
      U.putLong(state + STATE_RSEQ, virtual ? ARENA + ARENA_ALWAYS_ON : call(RSEQ_WORD));
    }
    restart(state);
  }

  /** The time up to now was counted elsewhere. */
  static void restart(long state) {
    if (CLOCK == CPU) {
      synchronize(state);
    } else {
      U.putLong(state + STATE_LAST_PROBE, now());
    }
  }

  /** Charges the node with the time since the last probe. */
  @ForceInline
  static void charge(long state, long node) {
    if (CLOCK == COARSE) {
      long now = now();
      long mark = U.getLong(state + STATE_LAST_PROBE);
      if (now != mark) {
        U.putLong(state + STATE_LAST_PROBE, now);
        U.putLong(node + NODE_BASE, U.getLong(node + NODE_BASE) + (now - mark));
      }
      return;
    }
    long now = ticks();
    // After the reading: the next probe finds anything between the two.
    if (CLOCK == CPU && mayHaveBeenOff(state, now)) {
      chargeOnAndOff(state, node);
      return;
    }
    long mark = U.getLong(state + STATE_LAST_PROBE);
    U.putLong(state + STATE_LAST_PROBE, now);
    U.putLong(node + NODE_BASE, U.getLong(node + NODE_BASE) + (now - mark));
  }

  /** The current activation of the node ends. */
  @ForceInline
  static void close(long node) {
    long base = U.getLong(node + NODE_BASE);
    long self = base - U.getLong(node + NODE_BASE_START);
    // A difference, so that zeroed memory means "none yet".
    if (U.getLong(node + NODE_LEAST) < Long.MAX_VALUE - self) {
      U.putLong(node + NODE_LEAST, Long.MAX_VALUE - self);
    }
    if (self != 0) {
      U.putLong(node + NODE_BASE_START, base);
      if (self > U.getLong(node + NODE_GREATEST)) {
        U.putLong(node + NODE_GREATEST, self);
      }
    }
  }

  /** clock=manual, for tests: advances the time by so many nanoseconds, in whole microseconds. */
  public static void advance(long nanos) {
    U.putLong(ARENA + ARENA_TICK, U.getLong(ARENA + ARENA_TICK) + nanos);
  }

  /** The time for a record of the log. */
  @ForceInline
  static long stamp(long state) {
    long now = now();
    if (CLOCK == CPU) {
      if (mayHaveBeenOff(state, now)) {
        return stampAfterOff(state);
      }
      U.putLong(state + STATE_LAST_PROBE, now);
    }
    return now;
  }

  @ForceInline
  static long now() {
    return CLOCK == COARSE ? U.getLong(ARENA + ARENA_TICK) : ticks();
  }

  @ForceInline
  private static long ticks() {
    return TICKS == null ? System.nanoTime() : call(TICKS);
  }

  @ForceInline
  private static long call(MethodHandle handle) {
    try {
      return (long) handle.invokeExact();
    } catch (Throwable e) {
      U.throwException(e);
      return 0;
    }
  }

  @ForceInline
  private static boolean mayHaveBeenOff(long state, long now) {
    return wasOff(state) || now - U.getLong(state + STATE_CPU_SYNC_TICKS) > SYNC_TICKS;
  }

  @ForceInline
  private static boolean wasOff(long state) {
    return U.getLong(U.getLong(state + STATE_RSEQ)) != ARENA + ARENA_RSEQ;
  }

  private static void chargeOnAndOff(long state, long node) {
    long mark = U.getLong(state + STATE_LAST_PROBE);
    long off = offSince(state, mark);
    long elapsed = U.getLong(state + STATE_LAST_PROBE) - mark;
    U.putLong(node + NODE_BASE, U.getLong(node + NODE_BASE) + (elapsed - off));
    U.putLong(node + NODE_OFF, U.getLong(node + NODE_OFF) + off);
    if (JTraceExits.ON) {
      JTraceExits.addOff(state, off);
    }
  }

  private static long stampAfterOff(long state) {
    long off = offSince(state, U.getLong(state + STATE_LAST_PROBE));
    if (off != 0) {
      JTraceLog.off(state, off);
    }
    return U.getLong(state + STATE_LAST_PROBE);
  }

  /** Time off the processors since {@code mark}; sets a new mark. */
  private static long offSince(long state, long mark) {
    boolean reported = wasOff(state);
    long cpuSync = U.getLong(state + STATE_CPU_SYNC);
    long onUntilMark = mark - U.getLong(state + STATE_CPU_SYNC_TICKS);
    synchronize(state);
    if (hasNoCpuTime(state)) {
      return 0;
    }
    long used = (long) ((U.getLong(state + STATE_CPU_SYNC) - cpuSync) * TICKS_PER_NANO);
    long elapsed = U.getLong(state + STATE_LAST_PROBE) - mark;
    long off = elapsed - JTraceMemory.max(0, JTraceMemory.min(elapsed, used - onUntilMark));
    return reported || off > LEAST_UNREPORTED_TICKS ? off : 0;
  }

  /** Reads both clocks, as close together as possible: only one of them has the time in between. */
  private static void synchronize(long state) {
    if (hasNoCpuTime(state)) {
      U.putLong(state + STATE_CPU_SYNC_TICKS, Long.MAX_VALUE);
      U.putLong(state + STATE_LAST_PROBE, ticks());
      return;
    }
    long before;
    long used;
    long now;
    int tries = 0;
    do {
      // Set before the clocks are read: if the thread loses the processor in between, it is cleared.
      U.putLong(U.getLong(state + STATE_RSEQ), ARENA + ARENA_RSEQ);
      before = ticks();
      used = call(CPU_NANOS);
      now = ticks();
    } while (now - before > PAIR_TICKS && ++tries < PAIR_TRIES);
    // After all calls: a StackOverflowError must not leave a mismatched pair.
    U.putLong(state + STATE_CPU_SYNC, used);
    U.putLong(state + STATE_CPU_SYNC_TICKS, now);
    U.putLong(state + STATE_LAST_PROBE, now);
  }

  /** Virtual threads, and the state of threads without one. */
  private static boolean hasNoCpuTime(long state) {
    return U.getLong(state + STATE_RSEQ) == ARENA + ARENA_ALWAYS_ON;
  }

  // ---- Set-up -----------------------------------------------------------------------------------

  /**
   * Calls the handle so often that java.lang.invoke has customized it (after 127 calls): that uses
   * heap, of which a program may have none left when a probe runs.
   */
  private static void settle(MethodHandle handle) {
    for (int i = 0; handle != null && i < 200; i++) {
      call(handle);
    }
  }

  /** A static native method of the agent's class; null if it is unavailable. */
  private static MethodHandle jniHandle(String name) {
    try {
      Class<?> natives = Class.forName("jtrace.NativeClock", true, null);
      return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
          natives, name, MethodType.methodType(long.class));
    } catch (ReflectiveOperationException | LinkageError e) {
      return null;
    }
  }

  /** A handle that C2 turns into a plain call of the function; null if this JDK has none. */
  private static MethodHandle leafHandle(long function) {
    try {
      return Runtime.version().feature() < 22 ? oldHandle(function) : linkerHandle(function);
    } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
      return null;
    }
  }

  /** JDK 22 and later: Linker.nativeLinker().downcallHandle(function, ()long, critical(false)). */
  private static MethodHandle linkerHandle(long function) throws ReflectiveOperationException {
    String foreign = "java.lang.foreign.";
    Class<?> linkerClass = Class.forName(foreign + "Linker");
    Class<?> optionClass = Class.forName(foreign + "Linker$Option");
    Class<?> segmentClass = Class.forName(foreign + "MemorySegment");
    Class<?> layoutClass = Class.forName(foreign + "MemoryLayout");
    Class<?> descriptorClass = Class.forName(foreign + "FunctionDescriptor");
    Object options = Array.newInstance(optionClass, 1);
    Array.set(options, 0, optionClass.getMethod("critical", boolean.class).invoke(null, false));
    Object descriptor = descriptorClass
        .getMethod("of", layoutClass, layoutClass.arrayType())
        .invoke(null, Class.forName(foreign + "ValueLayout").getField("JAVA_LONG").get(null),
            Array.newInstance(layoutClass, 0));
    Method downcall = linkerClass.getMethod(
        "downcallHandle", segmentClass, descriptorClass, optionClass.arrayType());
    return (MethodHandle) downcall.invoke(
        linkerClass.getMethod("nativeLinker").invoke(null),
        segmentClass.getMethod("ofAddress", long.class).invoke(null, function), descriptor, options);
  }

  /** JDK 17: the internals of its incubating linker, without a transition to native. */
  private static MethodHandle oldHandle(long function) throws ReflectiveOperationException {
    MethodHandle fallback = jniHandle("ticks");
    if (fallback == null) {
      return null;
    }
    fallback = MethodHandles.dropArguments(fallback, 0, long.class);
    String invoke = "jdk.internal.invoke.";
    Class<?> entryClass = Class.forName(invoke + "NativeEntryPoint");
    Class<?> storageClass = Class.forName(invoke + "VMStorageProxy");
    Class<?> abiClass = Class.forName(invoke + "ABIDescriptorProxy");
    Object argument = Array.newInstance(storageClass, 1);
    Array.set(argument, 0, zeroes(storageClass, R10));
    Object result = Array.newInstance(storageClass, 1);
    Array.set(result, 0, zeroes(storageClass, RAX));
    MethodType type = MethodType.methodType(long.class, long.class);
    Object entry = entryClass
        .getMethod("make", String.class, abiClass, storageClass.arrayType(),
            storageClass.arrayType(), boolean.class, MethodType.class)
        .invoke(null, "jtrace_ticks", zeroes(abiClass, 0), argument, result, false, type);
    Method make = Class.forName("java.lang.invoke.NativeMethodHandle")
        .getMethod("make", entryClass, MethodHandle.class);
    make.setAccessible(true);
    MethodHandle handle = (MethodHandle) make.invoke(null, entry, fallback);
    return MethodHandles.insertArguments(handle, 0, function);
  }

  private static final int RAX = 0;
  private static final int R10 = 10;

  /** An object whose methods return 0, except index(), which returns {@code index}. */
  private static Object zeroes(Class<?> type, int index) {
    return Proxy.newProxyInstance(null, new Class<?>[] {type},
        (proxy, method, arguments) -> method.getName().equals("index") ? index : 0);
  }
}
