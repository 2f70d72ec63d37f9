import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Threads with a period: half of it in one method, half in the other. Arguments: cpu or wall; the
 * period in milliseconds; the number of periods; threads. Thread i of n is shifted by i/n of a
 * period. With cpu a period begins a quarter before each multiple of the thread's processor time,
 * which is about where a timer begins that the thread has from its start. Prints for each thread what
 * it spent in both, and the real time of all: "periodic-0 FIRST SECOND REAL".
 */
final class Periodic {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long NANOS_OF_MILLI = 1_000_000;

  private static boolean isCpu;

  private static long now() {
    return isCpu ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
  }

  private static void waitFor(long end) throws InterruptedException {
    while (true) {
      long left = end - now();
      if (left <= 0) return;
      if (!isCpu) Thread.sleep(left / NANOS_OF_MILLI, (int) (left % NANOS_OF_MILLI));
    }
  }

  private static void first(long end) throws InterruptedException {
    waitFor(end);
  }

  private static void second(long end) throws InterruptedException {
    waitFor(end);
  }

  private static void run(long period, long periods, long shift) {
    long begin = isCpu ? shift - period / 4 : now() / period * period + shift;
    long inFirst = 0;
    long inSecond = 0;
    long began = System.nanoTime();
    try {
      for (long i = 0; i < periods; i++, begin += period) {
        long start = now();
        first(begin + period / 2);
        long middle = now();
        second(begin + period);
        inFirst += middle - start;
        inSecond += now() - middle;
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    long real = System.nanoTime() - began;
    String name = Thread.currentThread().getName();
    System.out.println(name + " " + inFirst + " " + inSecond + " " + real);
  }

  public static void main(String[] args) throws InterruptedException {
    isCpu = args[0].equals("cpu");
    long period = Long.parseLong(args[1]) * NANOS_OF_MILLI;
    long periods = Long.parseLong(args[2]);
    int count = Integer.parseInt(args[3]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long shift = period * i / count;
      threads.add(new Thread(() -> run(period, periods, shift), "periodic-" + i));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }
}
