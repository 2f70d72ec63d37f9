package cases;

import java.util.ArrayList;
import java.util.List;

/** Threads that call the same methods at the same time; each has its own tree. */
public final class EightThreads {
  private static final int THREADS = 8;
  private static final int ROUNDS = 20_000;

  private static long work(int round) {
    return round % 3 == 0 ? odd(round) : even(round);
  }

  private static long even(int n) {
    return n;
  }

  private static long odd(int n) {
    return even(n) + even(n + 1);
  }

  static void body() {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) sum += work(i);
    if (sum == 42) System.out.println("never");
  }

  public static void main(String[] args) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(EightThreads::body, "worker");
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) thread.join();
    int thirds = (ROUNDS + 2) / 3;
    int calls = THREADS * ROUNDS;
    System.out.println("EXPECT " + THREADS + " cases.EightThreads.body()");
    System.out.println("EXPECT " + calls + " cases.EightThreads.work(int)");
    System.out.println("EXPECT " + THREADS * thirds + " cases.EightThreads.odd(int)");
    System.out.println("EXPECT " + THREADS * (ROUNDS + thirds) + " cases.EightThreads.even(int)");
  }
}
