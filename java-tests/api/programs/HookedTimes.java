package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Threads that call a native function whose calls are timed. Arguments: library, threads, calls of
 * each. They begin when the agent has seen where the calls return to. Prints whether it has.
 */
public final class HookedTimes {
  private static final long PATIENCE_S = 60;

  private HookedTimes() {}

  private static boolean callUntilAwaited() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    while (!Hooked.isReturnAwaited() && System.nanoTime() < end) Hooked.add(1);
    return Hooked.isReturnAwaited();
  }

  private static void timed(int calls) {
    for (int i = 0; i < calls; i++) Hooked.add(i);
  }

  public static void main(String[] args) throws InterruptedException {
    System.load(args[0]);
    int calls = Integer.parseInt(args[2]);
    System.out.println(callUntilAwaited() ? "awaited" : "not awaited");
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[1]); i++) {
      Thread thread = new Thread(() -> timed(calls), "caller-" + i);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) thread.join();
  }
}
