import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** Virtual threads that wait (JDK 21). */
public final class VirtualSleep {
  private static void sleep() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    List<Thread> threads = new ArrayList<>();
    Runnable task = VirtualSleep::sleep;
    for (int i = 0; i < 20; i++) threads.add((Thread) start.invoke(null, task));
    for (Thread thread : threads) thread.join();
  }
}
