import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program to attach to: threads under load that count their own calls, and a main thread that does
 * what standard input says. "work N" makes N calls of {@link #step}; "load" prints how many calls
 * the load threads have made; "time N" prints how long N calls take; "gc" collects; "end" ends.
 */
public final class Attached {
  static final AtomicLong loaded = new AtomicLong();
  static volatile boolean running = true;
  static long sum;

  private Attached() {}

  static long step(long x) {
    return mix(x) + 1;
  }

  static long mix(long x) {
    return x * 0x9E3779B97F4A7C15L ^ x >>> 7;
  }

  static long work(long calls) {
    long x = 1;
    for (long i = 0; i < calls; i++) x = step(x);
    return x;
  }

  /** Counts before the call's probe of {@link #tick} can: a trace never shows more. */
  static void load() {
    while (running) {
      loaded.incrementAndGet();
      tick();
      if ((loaded.get() & 0xFFF) == 0) deep(20);
    }
  }

  static void tick() {
    sum += System.nanoTime() & 1;
  }

  static int deep(int n) {
    return n == 0 ? 0 : 1 + deep(n - 1);
  }

  public static void main(String[] args) throws Exception {
    int threads = args.length > 0 ? Integer.parseInt(args[0]) : 2;
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(Attached::load, "load-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
      System.out.println(answer(line.split(" ")));
    }
    running = false;
    System.out.println("ended");
  }

  static String answer(String[] command) {
    switch (command[0]) {
      case "work":
        sum += work(Long.parseLong(command[1]));
        return "worked";
      case "load":
        return Long.toString(loaded.get());
      case "time":
        long begin = System.nanoTime();
        sum += work(Long.parseLong(command[1]));
        return Long.toString(System.nanoTime() - begin);
      case "gc":
        System.gc();
        return "collected";
      default:
        return "unknown";
    }
  }
}
