import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;

/** Virtual threads, in one batch after the other (JDK 21). args: batches, threads, pause in ms. */
public final class VirtualBatches {
  static void task(CountDownLatch ended) {
    Thread.yield();
    ended.countDown();
  }

  public static void main(String[] args) throws Exception {
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    int threads = Integer.parseInt(args[1]);
    for (int batches = Integer.parseInt(args[0]); batches > 0; batches--) {
      CountDownLatch ended = new CountDownLatch(threads);
      Runnable task = () -> task(ended);
      for (int i = 0; i < threads; i++) start.invoke(null, task);
      ended.await();
      Thread.sleep(Long.parseLong(args[2]));
    }
  }
}
