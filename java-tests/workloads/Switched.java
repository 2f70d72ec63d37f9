import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * FIG. 18C and 18D: A calls B, which uses the processor all the time, or is off it for a while in
 * between. Prints the times of B by the JVM's own clocks, read inside of it and around it:
 * {@code b CPU_NS WALL_NS CPU_NS WALL_NS}; the true time is between. Then the CPU_NS of all of A.
 */
public final class Switched {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long UNIT = 10_000_000;
  private static final Span INSIDE = new Span();
  private static final Span AROUND = new Span();
  private static final Span WHOLE = new Span();

  private static final class Span {
    long cpu;
    long wall;

    void begin() {
      wall = -System.nanoTime();
      cpu = -THREADS.getCurrentThreadCpuTime();
    }

    void end() {
      cpu += THREADS.getCurrentThreadCpuTime();
      wall += System.nanoTime();
    }
  }

  private Switched() {}

  private static void use(long nanos) {
    long end = THREADS.getCurrentThreadCpuTime() + nanos;
    while (THREADS.getCurrentThreadCpuTime() < end) {
      Thread.onSpinWait();
    }
  }

  static void a(long off) throws InterruptedException {
    use(UNIT);
    AROUND.begin();
    b(off);
    AROUND.end();
    use(UNIT);
  }

  static void b(long off) throws InterruptedException {
    INSIDE.begin();
    use(4 * UNIT);
    if (off != 0) {
      Thread.sleep(off / 1_000_000);
    }
    use(4 * UNIT);
    INSIDE.end();
  }

  /** Argument: units that b is off the processor. */
  public static void main(String[] args) throws Exception {
    use(1);
    System.out.println();
    WHOLE.begin();
    a(Long.parseLong(args[0]) * UNIT);
    WHOLE.end();
    System.out.println(
        "b " + INSIDE.cpu + " " + INSIDE.wall + " " + AROUND.cpu + " " + AROUND.wall
            + " " + WHOLE.cpu);
  }
}
