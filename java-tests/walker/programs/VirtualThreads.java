import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Virtual threads: busy, parked and resumed deep down, yielding out of a sort. JDK 21 and later. */
public class VirtualThreads {
  static volatile long sink;

  static long burn(long micros) {
    long end = System.nanoTime() + micros * 1_000;
    long x = 0;
    while (System.nanoTime() < end) for (int i = 0; i < 200; i++) x = x * 31 + i;
    return x;
  }

  static long deep(int n, boolean park) throws Exception {
    if (n == 0) {
      if (park) Thread.sleep(1);
      return burn(300);
    }
    long result = deep(n - 1, park) + 1;
    return n % 10 == 0 ? result + burn(30) : result;
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    while (System.nanoTime() < end) {
      try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
          int k = i;
          results.add(executor.submit(() -> deep(5 + k, (k & 1) == 0)));
        }
        for (var result : results) sink += result.get();
      }
      Thread sorter =
          Thread.ofVirtual()
              .start(
                  () -> {
                    Integer[] numbers = new Integer[300];
                    for (int i = 0; i < 300; i++) numbers[i] = (i * 7919) % 300;
                    Arrays.sort(
                        numbers,
                        (p, q) -> {
                          Thread.yield();
                          burn(3);
                          return p.compareTo(q);
                        });
                  });
      sorter.join();
    }
    System.out.println("VirtualThreads done " + (sink != 0));
  }
}
