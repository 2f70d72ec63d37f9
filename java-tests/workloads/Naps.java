import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A thread that leaves its processor a number of times, which the kernel counts, too. */
public final class Naps {
  private static final int NAPS = 200;

  private static volatile int result;
  private static volatile long counted;

  private static void nap() throws InterruptedException {
    Thread.sleep(1);
  }

  private static int work(int n) {
    int sum = n;
    for (int i = 0; i < 10_000; i++) sum = sum * 31 + i;
    return sum;
  }

  /** Since the thread's start. */
  private static long switches() throws IOException {
    long sum = 0;
    List<String> lines = Files.readAllLines(Path.of("/proc/thread-self/status"));
    for (String line : lines) {
      if (line.contains("ctxt_switches:")) sum += Long.parseLong(line.split("\\s+")[1]);
    }
    return sum;
  }

  private static void run() {
    try {
      int sum = 0;
      for (int i = 0; i < NAPS; i++) {
        nap();
        sum += work(i);
      }
      result = sum;
      counted = switches();
    } catch (IOException | InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    Thread naps = new Thread(Naps::run, "naps");
    naps.start();
    naps.join();
    System.out.println("SWITCHES " + counted + " " + result);
  }
}
