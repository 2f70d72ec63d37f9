package cases;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Executor tasks that end with an exception that code out of scope catches. Any number of tasks has
 * the tree of one: the next task must not nest below the one that threw.
 */
public final class ThrowingTasks {
  private static int depth(int n) {
    if (n == 0) throw new IllegalStateException();
    return depth(n - 1) + 1;
  }

  static final class Task implements Runnable {
    private final CountDownLatch done;

    Task(CountDownLatch done) {
      this.done = done;
    }

    @Override
    public void run() {
      done.countDown();
      depth(3);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    int tasks = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
    ExecutorService executor = Executors.newSingleThreadExecutor();
    CountDownLatch done = new CountDownLatch(tasks);
    Task task = new Task(done);
    for (int i = 0; i < tasks; i++) executor.submit(task);
    done.await();
    executor.shutdown();
    if (!executor.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES)) System.exit(1);
    System.out.println("EXPECT " + tasks + " cases.ThrowingTasks$Task.run()");
    System.out.println("EXPECT " + 4L * tasks + " cases.ThrowingTasks.depth(int)");
    System.out.println("EXPECT 1 cases.ThrowingTasks$Task.<init>(CountDownLatch)");
  }
}
