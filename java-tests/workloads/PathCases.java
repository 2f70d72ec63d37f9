import java.util.ArrayList;
import java.util.List;

/**
 * Methods that execute a known number of bytecodes on each call path (blocks=paths): {@link #loop}
 * 9 + 9 n, {@link #at} 4, or 3 if it throws, {@link #risky} 16, or 10. With the argument "threads"
 * eight threads do it at once, with "virtual" as many virtual ones, with "exit" the program ends in
 * the middle of a loop, with "deep" a recursion has 300 levels.
 */
public final class PathCases {
  private static final int[] ARRAY = {1, 2, 3};

  static int loop(int n) {
    int x = 0;
    for (int i = 0; i < n; i++) x += i;
    return x;
  }

  static int few() {
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += loop(3);
    return sum;
  }

  static int many() {
    int sum = 0;
    for (int i = 0; i < 7; i++) sum += loop(1000);
    return sum;
  }

  static int down(int n) {
    if (n == 0) return 0;
    return loop(n) + down(n - 1);
  }

  static int at(int[] array, int i) {
    return array[i];
  }

  static int risky(int[] array, int i) {
    int x = array[0] + 1;
    x += array[i];
    return x + 1;
  }

  static int caught() {
    int sum = 0;
    for (int i = 0; i < 6; i++) {
      try {
        sum += at(ARRAY, i);
        sum += risky(ARRAY, i + 1);
      } catch (ArrayIndexOutOfBoundsException e) {
        sum++;
      }
    }
    return sum;
  }

  private static void worker(int k) {
    int sum = 0;
    for (int i = 0; i < 1000; i++) sum += loop(k);
    if (sum == -1) throw new AssertionError();
  }

  private static void runThreads(boolean virtual) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int k = 1; k <= 8; k++) {
      int n = k;
      Runnable work = () -> worker(n);
      Thread thread =
          virtual
              ? (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work)
              : new Thread(work, "worker-" + n);
      if (!virtual) thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) thread.join();
  }

  static int last(int n) {
    int x = 0;
    for (int i = 0; i < n; i++) {
      x += i;
      if (i == 5) System.exit(0);
    }
    return x;
  }

  public static void main(String[] args) throws Exception {
    String what = args.length > 0 ? args[0] : "";
    int sum = few() + many() + down(4) + caught();
    if (what.equals("threads") || what.equals("virtual")) runThreads(what.equals("virtual"));
    if (what.equals("exit")) sum += last(10);
    if (what.equals("deep")) sum += down(300);
    if (sum == -1) throw new AssertionError();
  }
}
