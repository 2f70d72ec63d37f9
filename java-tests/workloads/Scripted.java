import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Computes, sleeps and waits as its script says, and reads the clocks inside each call and around
 * it. A probe reads them between the two. Prints a line for each call path:
 *
 * <pre>PATH CALLS  CUM_CPU CUM_CPU  CUM_WALL CUM_WALL  BASE_CPU BASE_CPU  BASE_WALL BASE_WALL</pre>
 *
 * in nanoseconds: the least and the most that each can be.
 */
public final class Scripted {
  private static final long MS = 1_000_000;
  private static final Object BELL = new Object();

  private Scripted() {}

  /** Reads the clocks; out of the recording's scope. */
  static final class Clock {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Map<String, long[]> PATHS = new TreeMap<>();
    private static final Deque<Clock> OPEN = new ArrayDeque<>();

    private final String path;
    private final long[] inside = new long[2];
    private final long[] around = new long[2];
    private final long[] calleesInside = new long[2];
    private final long[] calleesAround = new long[2];

    private Clock(String path) {
      this.path = path;
    }

    /** Call this before a call of the method. */
    static void before(String method) {
      String path = OPEN.isEmpty() ? method : OPEN.peek().path + ">" + method;
      OPEN.push(new Clock(path));
      read(OPEN.peek().around, -1);
    }

    static void begin() {
      read(OPEN.peek().inside, -1);
    }

    static void end() {
      read(OPEN.peek().inside, 1);
    }

    /** Call this after the call. */
    static void after() {
      read(OPEN.peek().around, 1);
      Clock call = OPEN.pop();
      long[] sums = PATHS.computeIfAbsent(call.path, it -> new long[9]);
      sums[0]++;
      for (int i = 0; i < 2; i++) {
        sums[1 + 2 * i] += call.inside[i];
        sums[2 + 2 * i] += call.around[i];
        sums[5 + 2 * i] += call.inside[i] - call.calleesAround[i];
        sums[6 + 2 * i] += call.around[i] - call.calleesInside[i];
      }
      if (OPEN.isEmpty()) return;
      Clock caller = OPEN.peek();
      for (int i = 0; i < 2; i++) {
        caller.calleesInside[i] += call.inside[i];
        caller.calleesAround[i] += call.around[i];
      }
    }

    private static void read(long[] into, int sign) {
      into[0] += sign * THREADS.getCurrentThreadCpuTime();
      into[1] += sign * System.nanoTime();
    }

    static void use(long nanos) {
      long end = THREADS.getCurrentThreadCpuTime() + nanos;
      while (THREADS.getCurrentThreadCpuTime() < end) Thread.onSpinWait();
    }

    /** Rings for the waiting thread, and holds the bell for a while. */
    static void otherThread(CountDownLatch taken) {
      Thread other = new Thread(() -> {
        synchronized (BELL) {
          taken.countDown();
          LockSupport.parkNanos(30 * MS);
        }
      });
      other.setDaemon(true);
      other.start();
    }

    static void print() {
      PATHS.forEach((path, sums) -> {
        StringBuilder line = new StringBuilder(path);
        for (long sum : sums) line.append(' ').append(sum);
        System.out.println(line);
      });
    }
  }

  static void compute() {
    Clock.begin();
    Clock.use(20 * MS);
    Clock.end();
  }

  static void sleep() throws InterruptedException {
    Clock.begin();
    Thread.sleep(30);
    Clock.end();
  }

  static void await() throws InterruptedException {
    Clock.begin();
    synchronized (BELL) {
      BELL.wait(30);
    }
    Clock.end();
  }

  static void park() {
    Clock.begin();
    LockSupport.parkNanos(BELL, 30 * MS);
    Clock.end();
  }

  static void block() throws InterruptedException {
    Clock.begin();
    CountDownLatch taken = new CountDownLatch(1);
    Clock.otherThread(taken);
    taken.await();
    synchronized (BELL) {
      Clock.use(MS);
    }
    Clock.end();
  }

  /** Computes before and after its callees, which also wait. */
  static void mixed(int depth) throws InterruptedException {
    Clock.begin();
    Clock.use(5 * MS);
    Clock.before("sleep");
    sleep();
    Clock.after();
    if (depth > 0) {
      Clock.before("mixed");
      mixed(depth - 1);
      Clock.after();
    }
    Clock.before("compute");
    compute();
    Clock.after();
    Clock.use(5 * MS);
    Clock.end();
  }

  static void script() throws InterruptedException {
    Clock.begin();
    for (int round = 0; round < 3; round++) {
      Clock.before("compute");
      compute();
      Clock.after();
      Clock.before("sleep");
      sleep();
      Clock.after();
      Clock.before("await");
      await();
      Clock.after();
      Clock.before("park");
      park();
      Clock.after();
      Clock.before("block");
      block();
      Clock.after();
      Clock.before("mixed");
      mixed(1);
      Clock.after();
    }
    Clock.end();
  }

  public static void main(String[] args) throws Exception {
    Clock.use(1);
    System.out.println("# clocks are warm");
    Clock.before("script");
    script();
    Clock.after();
    Clock.print();
  }
}
