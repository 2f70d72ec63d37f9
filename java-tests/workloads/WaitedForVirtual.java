import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Platform threads that wait for virtual ones: a latch that one of these opens, and the end of one.
 * Virtual threads are started by reflection, so that it compiles for JDK 17.
 */
public final class WaitedForVirtual {
  private WaitedForVirtual() {}

  private static Thread virtual(String name, Runnable task) throws ReflectiveOperationException {
    Class<?> builder = Class.forName("java.lang.Thread$Builder");
    Object made = Thread.class.getMethod("ofVirtual").invoke(null);
    Object named = builder.getMethod("name", String.class).invoke(made, name);
    return (Thread) builder.getMethod("start", Runnable.class).invoke(named, task);
  }

  private static void settle(Thread thread) {
    try {
      WaitedFor.settle(thread);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void countDown(CountDownLatch latch) {
    latch.countDown();
  }

  public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
    CountDownLatch latch = new CountDownLatch(1);
    Thread latched = WaitedFor.thread("latched", latch::await);
    Thread opener =
        virtual(
            "opener",
            () -> {
              settle(latched);
              countDown(latch);
            });
    Thread[] joiner = new Thread[1];
    Thread ending =
        virtual(
            "ending",
            () -> {
              while (joiner[0] == null) LockSupport.parkNanos(1_000_000);
              settle(joiner[0]);
            });
    joiner[0] = WaitedFor.thread("joiner", ending::join);
    for (Thread thread : new Thread[] {opener, ending, latched, joiner[0]}) {
      while (thread.isAlive()) Thread.sleep(1);
    }
    System.out.println("done");
  }
}
