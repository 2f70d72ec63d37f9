package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The running thread's counts (S5.4), for the program itself: jtrace-api.jar calls {@link #total}.
 * One class for all recordings. Nothing here allocates once a thread is known.
 */
public final class JTraceMetrics {
  /** Offsets in the JVM's structure for a thread, 16 bits each (signal_safe::AllocLayout); 0: not known. */
  private static final long ALLOC_LAYOUT;

  static {
    // Overwritten by the agent like the literals of JTraceProbe.
    ALLOC_LAYOUT = 0x4A54524143450021L;
  }

  private static final int ALLOC_BYTES = 0;
  /** metrics/metric.h: user counters have the numbers from here on. */
  private static final int FIRST_USER = 32;
  private static final int MAX_METRICS = 48;
  private static final int COUNTS = 0;
  private static final int BLOCK_CHANGES = 384;
  private static final int BLOCK_ALLOC_OFFSET = 392;

  private static final Unsafe U = Unsafe.getUnsafe();
  private static final long TID = U.objectFieldOffset(Thread.class, "tid");
  private static final long EETOP = U.objectFieldOffset(Thread.class, "eetop");

  private static final MethodHandle BLOCK = nativeHandle("block", long.class, boolean.class, long.class);
  private static final MethodHandle BEGIN = nativeHandle(
      "begin", long.class, boolean.class, long.class, long.class, long.class);
  private static final MethodHandle TOTAL = nativeHandle("total", int.class);
  /** JDK 21 and later: a virtual thread allocates on the account of the thread that carries it. */
  private static final MethodHandle CARRIER = carrierHandle();

  /** A thread's id and block, by its id: one array each, so that both are read together. */
  private static final long[][] KNOWN = new long[4096][];

  static {
    settle();
  }

  private JTraceMetrics() {}

  /** The count of the calling thread, or of the virtual thread that runs on it. */
  public static long total(int metric) {
    if (metric == ALLOC_BYTES && ALLOC_LAYOUT != 0) {
      return allocated() + U.getLong(block() + BLOCK_ALLOC_OFFSET);
    }
    if (metric >= FIRST_USER && metric < MAX_METRICS) {
      return U.getLong(block() + COUNTS + ((long) metric << 3));
    }
    return nativeTotal(metric);
  }

  /** Counts for the calling thread; {@code metric}: a user counter. */
  public static void add(int metric, long delta) {
    if (metric < FIRST_USER || metric >= MAX_METRICS) {
      throw new IllegalArgumentException("only user counters can be added to");
    }
    long block = block();
    long cum = block + COUNTS + ((long) metric << 3);
    U.putLong(cum, U.getLong(cum) + delta);
    U.putLongRelease(null, block + BLOCK_CHANGES, U.getLong(block + BLOCK_CHANGES) + 1);
  }

  /** The JVM's count for the thread that runs this code: exact, compiled or not. */
  @ForceInline
  static long allocated() {
    long thread = U.getLong(carrier(), EETOP);
    // In interpreted code a collection may run between two loads, and move the TLAB's contents to
    // the bytes before it. In code of C2 nothing runs between, and it loads each of them once.
    while (true) {
      long bytes = U.getLong(thread + (ALLOC_LAYOUT & 0xFFFF));
      long start = U.getLong(thread + (ALLOC_LAYOUT >>> 32 & 0xFFFF));
      long top = U.getLong(thread + (ALLOC_LAYOUT >>> 16 & 0xFFFF));
      if (bytes == U.getLong(thread + (ALLOC_LAYOUT & 0xFFFF))
          && start == U.getLong(thread + (ALLOC_LAYOUT >>> 32 & 0xFFFF))) {
        return bytes + (top - start);
      }
    }
  }

  @ForceInline
  private static Thread carrier() {
    if (CARRIER == null) {
      return Thread.currentThread();
    }
    try {
      return (Thread) CARRIER.invokeExact();
    } catch (Throwable e) {
      U.throwException(e);
      return null;
    }
  }

  @ForceInline
  private static long block() {
    long tid = U.getLong(Thread.currentThread(), TID);
    long[] known = KNOWN[(int) tid & (KNOWN.length - 1)];
    return known != null && known[0] == tid ? known[1] : findBlock(tid);
  }

  private static long findBlock(long tid) {
    long eetop = U.getLong(Thread.currentThread(), EETOP);
    long block = 0;
    try {
      block = (long) BLOCK.invokeExact(tid, eetop == 0, eetop);
    } catch (Throwable e) {
      U.throwException(e);
    }
    if (block == 0) {
      throw new IllegalStateException("no memory for a thread's counters");
    }
    KNOWN[(int) tid & (KNOWN.length - 1)] = new long[] {tid, block};
    return block;
  }

  private static long nativeTotal(int metric) {
    try {
      return (long) TOTAL.invokeExact(metric);
    } catch (Throwable e) {
      U.throwException(e);
      return 0;
    }
  }

  /** NativeCounters.begin, for the probes. */
  static long begin(long tid, boolean virtual, long metrics, long charged) {
    try {
      long eetop = U.getLong(Thread.currentThread(), EETOP);
      return (long) BEGIN.invokeExact(tid, virtual, eetop, metrics, charged);
    } catch (Throwable e) {
      U.throwException(e);
      return 0;
    }
  }

  // ---- Set-up -----------------------------------------------------------------------------------

  /**
   * Calls the handles so often that java.lang.invoke has customized them (after 127 calls): that
   * uses heap, of which a program may have none left when a probe runs.
   */
  private static void settle() {
    Thread thread = Thread.currentThread();
    long tid = U.getLong(thread, TID);
    boolean virtual = U.getLong(thread, EETOP) == 0;
    for (int i = 0; i < 200; i++) {
      carrier();
      begin(tid, virtual, 0, 0);
    }
  }

  private static MethodHandle nativeHandle(String name, Class<?>... parameters) {
    try {
      Class<?> natives = Class.forName("jtrace.NativeCounters", true, null);
      return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
          natives, name, MethodType.methodType(long.class, parameters));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("no jtrace.NativeCounters", e);
    }
  }

  private static MethodHandle carrierHandle() {
    if (Runtime.version().feature() < 21) {
      return null;
    }
    try {
      return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
          Thread.class, "currentCarrierThread", MethodType.methodType(Thread.class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("no Thread.currentCarrierThread", e);
    }
  }
}
