package programs;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import jtrace.api.JTrace;
import jtrace.api.Metric;

/**
 * Threads that compute, sleep and wait. Prints "THREAD PART METRIC=LOW VALUE HIGH": the agent's
 * value, and the least and the most that it can be by the kernel's and the JDK's own clocks, which
 * were read before and after.
 */
public final class ThreadClocks {
  private static final long MS = 1_000_000;
  private static final long SLEPT = 60 * MS;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private ThreadClocks() {}

  /** The agent's figures of the calling thread, between two readings of other clocks. */
  private static final class Reading {
    final long wallBefore = System.nanoTime();
    final long cpuBefore = THREADS.getCurrentThreadCpuTime();
    final long cpu = JTrace.total(Metric.CPU);
    final long wall = JTrace.total(Metric.WALL);
    final long off = JTrace.total(Metric.OFF_CPU);
    final long cpuAfter = THREADS.getCurrentThreadCpuTime();
    final long wallAfter = System.nanoTime();
  }

  /** What the kernel reports about a thread: run time, time in the run queue, turns. */
  private record Schedule(long run, long delay, String turns, String state, long voluntary) {
    static Schedule of(Path task) throws IOException {
      String state = state(task);
      String[] figures = Files.readString(task.resolve("schedstat")).trim().split(" ");
      return new Schedule(
          Long.parseLong(figures[0]), Long.parseLong(figures[1]), figures[2], state,
          Files.readAllLines(task.resolve("status")).stream()
              .filter(line -> line.startsWith("voluntary"))
              .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
              .sum());
    }

    private static String state(Path task) throws IOException {
      String stat = Files.readString(task.resolve("stat"));
      return stat.substring(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    }

    boolean standsStill() {
      return state.equals("S");
    }
  }

  private interface Part {
    void run() throws Exception;
  }

  private static final class Script extends Thread {
    private final List<String> lines = new ArrayList<>();
    private final CountDownLatch done = new CountDownLatch(1);
    private final Object bell = new Object();
    private long created;
    private long began;
    private long cpuAtBegin;
    private volatile Path task;
    private volatile boolean ends;

    Script(String name) {
      super(name);
    }

    void begin() {
      created = System.nanoTime();
      start();
    }

    @Override
    public void run() {
      began = System.nanoTime();
      cpuAtBegin = THREADS.getCurrentThreadCpuTime();
      try {
        task = Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
        part("warm-up", () -> { });
        part("compute", () -> use(60 * MS));
        part("sleep", () -> Thread.sleep(SLEPT / MS));
        part("wait", this::await);
        part("park", () -> LockSupport.parkNanos(this, SLEPT));
        part("monitor", this::enter);
        checkPreemption();
      } catch (Exception e) {
        lines.add(e + "=0 1 0");
      }
      done.countDown();
      while (!ends) LockSupport.park(this);
    }

    private void await() throws InterruptedException {
      synchronized (bell) {
        bell.wait(SLEPT / MS);
      }
    }

    /** Another thread holds the monitor for a while. */
    private void enter() throws InterruptedException {
      CountDownLatch taken = new CountDownLatch(1);
      Thread other = new Thread(() -> {
        synchronized (bell) {
          taken.countDown();
          LockSupport.parkNanos(SLEPT);
        }
      });
      other.start();
      taken.await();
      synchronized (bell) {
        other.interrupt();
      }
      other.join();
    }

    private void part(String name, Part part) throws Exception {
      Reading first = new Reading();
      part.run();
      Reading last = new Reading();
      report(name, "cpu", last.cpuBefore, last.cpu, last.cpuAfter);
      report(name, "wall", last.wallBefore - began, last.wall, last.wallAfter - created);
      // The thread's own time began between its creation and its first reading.
      report(name, "off", last.wallBefore - began - last.cpuAfter, last.off,
          last.wallAfter - created - last.cpuBefore + cpuAtBegin);
      report(name, "cpu of the part", last.cpuBefore - first.cpuAfter, last.cpu - first.cpu,
          last.cpuAfter - first.cpuBefore);
      report(name, "wall of the part", last.wallBefore - first.wallAfter, last.wall - first.wall,
          last.wallAfter - first.wallBefore);
      long leastOff = last.wallBefore - first.wallAfter - (last.cpuAfter - first.cpuBefore);
      // Sleeping cannot end early.
      if (name.equals("sleep")) leastOff = SLEPT - (last.cpuAfter - first.cpuBefore);
      report(name, "off of the part", leastOff, last.off - first.off,
          last.wallAfter - first.wallBefore - (last.cpuBefore - first.cpuAfter));
    }

    /** A thread that never yields its processor is off it only while it waits for one. */
    private void checkPreemption() throws Exception {
      for (int tries = 0; tries < 20; tries++) {
        long stolen = stolen();
        Schedule before = Schedule.of(task);
        Reading first = new Reading();
        use(100 * MS);
        Reading last = new Reading();
        Schedule after = Schedule.of(task);
        if (before.voluntary != after.voluntary) continue;
        long waited = after.delay - before.delay + stolen() - stolen + 20 * MS;
        // Both clocks are read within a reading, one after the other: the first may have had longer in between.
        report("preempted", "off", first.wallBefore - first.wallAfter, last.off - first.off, waited);
        return;
      }
      System.err.println("the JVM stopped the thread each time: preemption is not checked");
    }

    private void report(String part, String metric, long low, long value, long high) {
      lines.add(getName() + " " + part + " " + metric + "=" + low + " " + value + " " + high);
    }

    /** All clocks of a thread that stands still have the same value. */
    void checkStanding() throws Exception {
      done.await();
      for (;;) {
        Schedule before = Schedule.of(task);
        long cpu = JTrace.total(this, Metric.CPU);
        long jdk = THREADS.getThreadCpuTime(getId());
        Schedule after = Schedule.of(task);
        if (!before.equals(after) || !before.standsStill()) {
          Thread.sleep(1);
          continue;
        }
        report("standing", "cpu by schedstat", after.run, cpu, after.run);
        report("standing", "cpu by the JDK", jdk, cpu, jdk);
        return;
      }
    }

    void checkEnded() throws Exception {
      long before = JTrace.total(this, Metric.CPU);
      ends = true;
      LockSupport.unpark(this);
      join();
      long after = System.nanoTime();
      long cpu = JTrace.total(this, Metric.CPU);
      long wall = JTrace.total(this, Metric.WALL);
      report("ended", "cpu", before, cpu, wall);
      report("ended", "wall", cpu, wall, after - created);
      report("ended", "off", wall - cpu, JTrace.total(this, Metric.OFF_CPU),
          after - created - cpu + cpuAtBegin);
      lines.forEach(System.out::println);
      System.out.println(getName() + " totals=" + cpu + " " + wall + " "
          + JTrace.total(this, Metric.OFF_CPU));
    }
  }

  private static void use(long nanos) {
    long end = THREADS.getCurrentThreadCpuTime() + nanos;
    while (THREADS.getCurrentThreadCpuTime() < end) Thread.onSpinWait();
  }

  /** Time of interrupts and of other virtual machines; the kernel counts hundredths of a second. */
  private static long stolen() throws IOException {
    String[] all = Files.readAllLines(Path.of("/proc/stat")).get(0).trim().split("\\s+");
    return Arrays.stream(all, 6, 9).mapToLong(Long::parseLong).sum() * 10 * MS;
  }

  public static void main(String[] args) throws Exception {
    Script[] scripts = new Script[3];
    for (int i = 0; i < scripts.length; i++) {
      scripts[i] = new Script("script-" + i);
      scripts[i].begin();
    }
    for (Script script : scripts) script.checkStanding();
    for (Script script : scripts) script.checkEnded();
  }
}
