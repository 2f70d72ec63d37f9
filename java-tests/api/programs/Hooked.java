package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import jtrace.api.JTrace;

/**
 * Threads that call native functions, while a hook is put in and removed. Arguments: library,
 * threads, calls of each, changes. They call the second function until the last change. Prints the
 * number of errors and of calls of the second function.
 */
public final class Hooked {
  private static final String SQUARE = "libhooked_natives.so!natives_square";

  private Hooked() {}

  static native long add(long x);

  static native long square(long x);

  /** Whether the agent has seen where add returns to. */
  static native boolean isReturnAwaited();

  private static long left(long x) {
    return add(x);
  }

  private static long right(long x) {
    return add(x) + add(x + 1);
  }

  /** Calls of the second function after the others; toggle waits for them. */
  private static final AtomicLong lateCalls = new AtomicLong();

  private static volatile boolean changed;

  private static void work(long calls, AtomicLong wrong, AtomicLong squares) {
    long bad = 0;
    for (long i = 0; i < calls; i += 4) {
      if (left(i) != 3 * i + 1) bad++;
      if (right(i) != 6 * i + 5) bad++;
      if (add(i) != 3 * i + 1) bad++;
      if (square(i) != i * i) bad++;
    }
    long late = 0;
    for (; !changed; late++) {
      if (square(late) != late * late) bad++;
      lateCalls.incrementAndGet();
    }
    wrong.addAndGet(bad);
    squares.addAndGet((calls + 3) / 4 + late);
  }

  private static void toggle(int threads, int changes) throws InterruptedException {
    for (int i = 0; i < changes; i++) {
      JTrace.hook(SQUARE + ":count");
      // After that many late calls and one more, the last began while the hook was there.
      long enough = lateCalls.get() + threads + 1;
      while (i == changes - 1 && lateCalls.get() < enough) Thread.sleep(1);
      JTrace.hook(SQUARE + ":off");
    }
    changed = true;
  }

  /** With a hook that stays. */
  private static void counted(int calls) {
    JTrace.hook(SQUARE + ":count");
    for (int i = 0; i < calls; i++) square(i);
    JTrace.hook(SQUARE + ":off");
  }

  public static void main(String[] args) throws InterruptedException {
    System.load(args[0]);
    long calls = Long.parseLong(args[2]);
    AtomicLong wrong = new AtomicLong();
    AtomicLong squares = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    int threadCount = Integer.parseInt(args[1]);
    int changes = Integer.parseInt(args[3]);
    for (int i = 0; i < threadCount; i++) {
      Thread thread = new Thread(() -> work(calls, wrong, squares), "caller-" + i);
      threads.add(thread);
      thread.start();
    }
    toggle(threadCount, changes);
    for (Thread thread : threads) thread.join();
    if (changes != 0) counted(changes);
    System.out.println("wrong " + wrong + " squares " + squares);
  }
}
