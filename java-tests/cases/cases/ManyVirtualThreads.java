package cases;

// requires 21
// options memory=16g

import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that block and continue, perhaps on another carrier, in the middle of a call. All
 * are alive at once: their logs need much address space, and so do nodes with times.
 */
public final class ManyVirtualThreads {
  private static final int THREADS = 100_000;

  private static int outer(int n) {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
      sum += inner(n + i);
      LockSupport.parkNanos(1_000);
      sum += inner(n - i);
      Thread.yield();
    }
    return sum;
  }

  private static int inner(int n) {
    if (n % 2 == 0) Thread.yield();
    return leaf(n) + 1;
  }

  private static int leaf(int n) {
    return n * 31;
  }

  static void task() {
    outer(7);
  }

  public static void main(String[] args) throws Exception {
    // By reflection, so that the case compiles with JDK 17.
    Method factory = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
    ExecutorService executor = (ExecutorService) factory.invoke(null);
    for (int i = 0; i < THREADS; i++) executor.submit(ManyVirtualThreads::task);
    executor.shutdown();
    if (!executor.awaitTermination(2, TimeUnit.MINUTES)) System.exit(1);
    System.out.println("EXPECT " + THREADS + " cases.ManyVirtualThreads.task()");
    System.out.println("EXPECT " + THREADS + " cases.ManyVirtualThreads.outer(int)");
    System.out.println("EXPECT " + 6 * THREADS + " cases.ManyVirtualThreads.inner(int)");
    System.out.println("EXPECT " + 6 * THREADS + " cases.ManyVirtualThreads.leaf(int)");
  }
}
