import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Many threads that do nothing: args are how many and for how many milliseconds. */
final class Idle {
  private static volatile boolean over;

  static void rest(CountDownLatch resting) {
    resting.countDown();
    while (!over) LockSupport.park(resting);
  }

  /**
   * Prints two sums over the threads, in milliseconds: the time for which all of them rested, and the
   * time from before the start of each to after its end.
   */
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[0]);
    CountDownLatch resting = new CountDownLatch(count);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      threads.add(new Thread(null, () -> rest(resting), "idle-" + i, 256 << 10));
    }
    long alive = 0;
    for (Thread thread : threads) {
      alive -= System.nanoTime();
      thread.start();
    }
    resting.await();
    long begin = System.nanoTime();
    Thread.sleep(Long.parseLong(args[1]));
    long rested = (System.nanoTime() - begin) * count;
    over = true;
    for (Thread thread : threads) LockSupport.unpark(thread);
    for (Thread thread : threads) {
      thread.join();
      alive += System.nanoTime();
    }
    System.out.println(rested / 1_000_000 + " " + alive / 1_000_000);
  }
}
