import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Threads of a few calls each: "ShortThreads THREADS", one after another; with "together" all at once. */
public final class ShortThreads {
  private static volatile int sum;

  private static int outer(int x) {
    return inner(x) + 1;
  }

  private static int inner(int x) {
    return x;
  }

  private static void work() {
    for (int i = 0; i < 10; i++) sum += outer(i);
  }

  private static void oneByOne(int threads) throws InterruptedException {
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(ShortThreads::work);
      thread.start();
      thread.join();
    }
  }

  /** None ends before all have done their work. */
  private static void together(int threads) throws InterruptedException {
    CountDownLatch working = new CountDownLatch(threads);
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread thread =
          new Thread(
              () -> {
                work();
                working.countDown();
                try {
                  working.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) thread.join();
  }

  public static void main(String[] arguments) throws InterruptedException {
    int threads = Integer.parseInt(arguments[0]);
    if (arguments.length > 1) {
      together(threads);
    } else {
      oneByOne(threads);
    }
    System.out.println("EXPECT " + threads + " ShortThreads.work()");
    System.out.println("EXPECT " + 10 * threads + " ShortThreads.outer(int)");
    System.out.println("EXPECT " + 10 * threads + " ShortThreads.inner(int)");
  }
}
