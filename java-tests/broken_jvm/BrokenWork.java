import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A short program that does a little of everything that the agent looks at in the JVM: compiled and
 * inlined code, deep stacks, exceptions, allocation and collections, monitors, parks, threads that
 * start and end. Its output is always the same.
 */
public class BrokenWork {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static long inlined(int rounds) {
    long sum = 0;
    for (int i = 0; i < rounds; i++) sum += twice(i) - half(i);
    return sum;
  }

  static int twice(int i) {
    return i * 2;
  }

  static int half(int i) {
    return i / 2;
  }

  static int deep(int levels) {
    if (levels == 0) {
      try {
        throw new IllegalStateException("deep");
      } catch (IllegalStateException e) {
        return e.getStackTrace().length > 0 ? 1 : 0;
      }
    }
    return deep(levels - 1);
  }

  static long allocate(int rounds) {
    List<byte[]> kept = new ArrayList<>();
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
      byte[] bytes = new byte[i % 4096];
      if (i % 64 == 0) kept.add(bytes);
      sum += bytes.length;
    }
    return sum + kept.size();
  }

  static void waitForEachOther() throws InterruptedException {
    Object monitor = new Object();
    CountDownLatch blocked = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              blocked.countDown();
              synchronized (monitor) {
                monitor.notifyAll();
              }
              LockSupport.parkNanos(20_000_000);
            },
            "waiter");
    synchronized (monitor) {
      waiter.start();
      blocked.await();
      Thread.sleep(20);
      monitor.wait(1_000);
    }
    waiter.join();
  }

  public static void main(String[] args) throws Exception {
    int scale = Integer.parseInt(args[0]);
    long sum = 0;
    for (int round = 0; round < 3; round++) {
      sum += fib(24 + scale);
      sum += inlined(200_000 * scale);
      sum += deep(200);
      sum += allocate(20_000 * scale);
      waitForEachOther();
      System.gc();
    }
    System.out.println(sum);
  }
}
