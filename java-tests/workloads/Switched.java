import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * FIG. 18C and 18D: A calls B, which uses the processor all the time, or is off it for a while in
 * between. Prints what each has used by the JVM's own account: {@code NAME CPU_NS WALL_NS}.
 */
public final class Switched {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long UNIT = 10_000_000;
  private static long cpuOfB;
  private static long wallOfB;

  private Switched() {}

  private static void use(long nanos) {
    long end = THREADS.getCurrentThreadCpuTime() + nanos;
    while (THREADS.getCurrentThreadCpuTime() < end) {
      Thread.onSpinWait();
    }
  }

  static void a(long off) throws InterruptedException {
    use(UNIT);
    b(off);
    use(UNIT);
  }

  static void b(long off) throws InterruptedException {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long wall = System.nanoTime();
    use(4 * UNIT);
    if (off != 0) {
      Thread.sleep(off / 1_000_000);
    }
    use(4 * UNIT);
    cpuOfB = THREADS.getCurrentThreadCpuTime() - cpu;
    wallOfB = System.nanoTime() - wall;
  }

  /** Argument: units that b is off the processor. */
  public static void main(String[] args) throws Exception {
    use(1);
    System.out.println();
    a(Long.parseLong(args[0]) * UNIT);
    System.out.println("b " + cpuOfB + " " + wallOfB);
  }
}
