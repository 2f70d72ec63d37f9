import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A program to attach to: threads under load that count their own calls, and a main thread that
 * runs commands from standard input. "work N" makes N calls of {@link #step}; "load" prints how
 * many calls the load threads have made; "time N" prints how long N calls take; "threads N" runs N
 * threads, one after the other; "gc" collects; "end" ends. "hostile" starts a thread whose name
 * needs escaping in every format; "spend N" runs a thread that allocates an array of N bytes.
 * "sink N" continues N calls deeper, until "rise"; "dive" starts a thread that runs deep in calls,
 * and "surface" ends it and prints how often it turned there. "halt" waits until that thread stands
 * in the middle of its innermost loop, "resume" lets it go on, and "turn N" waits until it has turned
 * N times more.
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

  /** Counts before the probe of {@link #tick} does, so a trace never shows more. */
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

  static volatile boolean diving;
  static Thread diver;
  static volatile long turns;

  /** Ten calls deep; returns to the top now and then. */
  static void stayDown() {
    while (diving) dive(10);
  }

  static void dive(int left) {
    if (left > 1) {
      dive(left - 1);
      return;
    }
    for (int i = 0; i < 5_000 && diving; i++) {
      turns++;
      turn();
    }
  }

  static void turn() {
    long x = turns;
    for (int i = 0; i < 200; i++) {
      if (i == 100 && halted) stand();
      x = x * 0x9E3779B97F4A7C15L ^ x >>> 7;
    }
    sum += x;
  }

  static volatile boolean halted;
  static volatile boolean standing;

  static void stand() {
    standing = true;
    while (halted) LockSupport.parkNanos(1_000_000);
    standing = false;
  }

  static void halt() {
    halted = true;
    while (!standing) LockSupport.parkNanos(1_000_000);
  }

  static void resume() {
    halted = false;
    while (standing) LockSupport.parkNanos(1_000_000);
  }

  static void sink(BufferedReader in, int left) throws Exception {
    if (left > 1) {
      sink(in, left - 1);
    } else {
      obey(in, "rise");
    }
  }

  static void obey(BufferedReader in, String last) throws Exception {
    for (String line; (line = in.readLine()) != null && !line.equals(last); ) {
      String[] command = line.split(" ");
      if (command[0].equals("sink")) {
        System.out.println("sinking");
        sink(in, Integer.parseInt(command[1]));
        System.out.println("risen");
      } else {
        System.out.println(answer(command));
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int threads = args.length > 0 ? Integer.parseInt(args[0]) : 2;
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(Attached::load, "load-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    obey(new BufferedReader(new InputStreamReader(System.in)), "end");
    running = false;
    System.out.println("ended");
  }

  static void idle() {
    try {
      Thread.sleep(Long.MAX_VALUE);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static byte[] kept;

  /** Runs a thread that allocates that many bytes; returns what it allocated, by the JVM. */
  static long spend(long bytes) throws InterruptedException {
    Thread spender = new Thread(() -> kept = new byte[(int) bytes], "spender");
    spender.start();
    spender.join();
    return kept.length;
  }

  static String answer(String[] command) throws InterruptedException {
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
      case "dive":
        diving = true;
        diver = new Thread(Attached::stayDown, "diver");
        diver.start();
        return "diving";
      case "halt":
        halt();
        return "halted";
      case "resume":
        resume();
        return "resumed";
      case "turn":
        long last = turns + Long.parseLong(command[1]);
        while (turns < last) LockSupport.parkNanos(1_000_000);
        return "turned";
      case "surface":
        diving = false;
        diver.join();
        return Long.toString(turns);
      case "threads":
        for (long i = Long.parseLong(command[1]); i > 0; i--) {
          Thread thread = new Thread(() -> sum += work(5_000_000));
          thread.start();
          thread.join();
        }
        return "threads ended";
      case "hostile":
        Thread hostile = new Thread(Attached::idle, "evil\"\\\n} 1 \u001b[2J\u0000\ud83d\ude00\ud83d");
        hostile.setDaemon(true);
        hostile.start();
        return "named";
      case "spend":
        return Long.toString(spend(Long.parseLong(command[1])));
      case "gc":
        System.gc();
        return "collected";
      default:
        return "unknown";
    }
  }
}
