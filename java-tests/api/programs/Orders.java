package programs;

import jtrace.api.Counter;
import jtrace.api.JTrace;

/**
 * Counts orders on eight threads at once, each of which starts and ends many more. Argument: events.
 * Prints its own count and the agent's.
 */
public final class Orders {
  private static final int THREADS = 8;
  private static final int LIVES = 20;
  private static final Counter ORDERS = JTrace.counter("orders");

  static void ones(int n) {
    for (int i = 0; i < n; i++) ORDERS.add(1);
  }

  static void twos(int n) {
    for (int i = 0; i < n; i++) ORDERS.add(2);
    ones(n);
  }

  private static void run(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    int each = Integer.parseInt(args[0]) / THREADS / LIVES / 2;
    Thread[] threads = new Thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
      threads[t] = new Thread(() -> {
        for (int life = 0; life < LIVES; life++) run(() -> twos(each));
      });
      threads[t].start();
    }
    for (Thread thread : threads) thread.join();
    System.out.println("ones=" + (long) each * THREADS * LIVES);
    System.out.println("total=" + JTrace.processTotal(ORDERS.metric()));
  }
}
