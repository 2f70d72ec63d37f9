package programs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Threads that work on alternate stacks, which signal handlers use. Arguments: library, bytes of
 * each stack. Prints the bytes that the handlers of the most demanding thread have used.
 */
public final class AlternateStacks {
  private static final int THREADS = 3;
  private static final long WORK_NS = TimeUnit.MILLISECONDS.toNanos(1500);

  private AlternateStacks() {}

  static native boolean use(long bytes);

  static native long used();

  static int deep(int depth, List<String> texts) {
    if (depth > 0) return deep(depth - 1, texts) + 1;
    texts.sort((a, b) -> Integer.compare(a.hashCode(), b.hashCode()));
    return texts.indexOf("none") + (int) Hooked.add(texts.size());
  }

  static void work() {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 2000; i++) texts.add("text " + i * 31 % 997);
    for (long end = System.nanoTime() + WORK_NS; System.nanoTime() < end; ) {
      Collections.reverse(texts);
      if (deep(100, texts) == 0) throw new AssertionError();
    }
  }

  public static void main(String[] args) throws InterruptedException {
    System.load(args[0]);
    long bytes = Long.parseLong(args[1]);
    List<Thread> threads = new ArrayList<>();
    long[] most = new long[1];
    for (int i = 0; i < THREADS; i++) {
      threads.add(
          new Thread(
              () -> {
                if (!use(bytes)) throw new AssertionError();
                work();
                synchronized (most) {
                  most[0] = Math.max(most[0], used());
                }
              }));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    System.out.println("used " + most[0]);
  }
}
