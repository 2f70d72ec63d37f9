package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import jtrace.api.JTrace;

/**
 * Threads that call native functions, while a hook comes and goes: library, threads, calls of each,
 * changes. Prints what was wrong, and how often the second function was called.
 */
public final class Hooked {
  private static final String SQUARE = "libhooked_natives.so!natives_square";

  private Hooked() {}

  static native long add(long x);

  static native long square(long x);

  private static long left(long x) {
    return add(x);
  }

  private static long right(long x) {
    return add(x) + add(x + 1);
  }

  private static void work(long calls, AtomicLong wrong, AtomicLong squares) {
    long bad = 0;
    for (long i = 0; i < calls; i += 4) {
      if (left(i) != 3 * i + 1) bad++;
      if (right(i) != 6 * i + 5) bad++;
      if (add(i) != 3 * i + 1) bad++;
      if (square(i) != i * i) bad++;
    }
    wrong.addAndGet(bad);
    squares.addAndGet((calls + 3) / 4);
  }

  private static void toggle(int changes) {
    for (int i = 0; i < changes; i++) {
      JTrace.hook(SQUARE + ":count");
      JTrace.hook(SQUARE + ":off");
    }
  }

  public static void main(String[] args) throws InterruptedException {
    System.load(args[0]);
    long calls = Long.parseLong(args[2]);
    AtomicLong wrong = new AtomicLong();
    AtomicLong squares = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[1]); i++) {
      Thread thread = new Thread(() -> work(calls, wrong, squares), "caller-" + i);
      threads.add(thread);
      thread.start();
    }
    toggle(Integer.parseInt(args[3]));
    for (Thread thread : threads) thread.join();
    System.out.println("wrong " + wrong + " squares " + squares);
  }
}
