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

  /** Prints the milliseconds for which all of them rested. */
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[0]);
    CountDownLatch resting = new CountDownLatch(count);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      threads.add(new Thread(null, () -> rest(resting), "idle-" + i, 256 << 10));
    }
    for (Thread thread : threads) thread.start();
    resting.await();
    long begin = System.nanoTime();
    Thread.sleep(Long.parseLong(args[1]));
    System.out.println((System.nanoTime() - begin) / 1_000_000);
    over = true;
    for (Thread thread : threads) LockSupport.unpark(thread);
    for (Thread thread : threads) thread.join();
  }
}
