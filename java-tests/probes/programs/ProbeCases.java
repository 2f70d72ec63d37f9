import java.lang.invoke.JTraceProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Calls the probes as rewritten methods do, counts for itself and prints what the agent must
 * report: {@code path /1/2 N}, as many calls at that path, summed over threads; {@code pruned} if
 * calls may have no path of their own; {@code about /1/2 N} where a call more or less is allowed.
 */
public class ProbeCases {
  private static final TreeMap<String, Long> EXPECTED = new TreeMap<>();

  private static synchronized void expect(String path, long calls) {
    EXPECTED.merge(path, calls, Long::sum);
  }

  // ---- Recursion: the count of activations at each depth, from the recurrence -------------------

  static int fib(int n) {
    long token = JTraceProbe.enter(1);
    int result = n < 2 ? n : fib(n - 1) + fib(n - 2);
    JTraceProbe.exit(token);
    return result;
  }

  private static void countFib(int n, String path, long calls) {
    // now[m]: activations of fib(m) at the current depth.
    long[] now = new long[n + 1];
    now[n] = calls;
    for (StringBuilder at = new StringBuilder(path); ; ) {
      long[] next = new long[n + 1];
      long sum = 0;
      at.append("/1");
      for (int m = 0; m <= n; m++) {
        sum += now[m];
        if (m >= 2) {
          next[m - 1] += now[m];
          next[m - 2] += now[m];
        }
      }
      if (sum == 0) {
        return;
      }
      expect(at.toString(), sum);
      now = next;
    }
  }

  private static void recursion() {
    for (int i = 0; i < 20; i++) {
      fib(25);
    }
    countFib(25, "", 20);
  }

  // ---- Leaves and flat mode ----------------------------------------------------------------------

  static int leaf(int x) {
    JTraceProbe.leaf(3);
    return x * 31;
  }

  static int callsLeaf(int rounds) {
    long token = JTraceProbe.enter(2);
    int x = rounds;
    for (int i = 0; i < rounds; i++) {
      x += leaf(i);
    }
    JTraceProbe.exit(token);
    return x;
  }

  private static void leaves() {
    for (int i = 0; i < 100; i++) {
      callsLeaf(10_000);
    }
    expect("/2", 100);
    expect("/2/3", 1_000_000);
  }

  static int flatLeaf(int x) {
    JTraceProbe.count(7);
    return x * 31;
  }

  private static void flat() throws Exception {
    Runnable work = () -> {
      for (int i = 0; i < 300_000; i++) {
        flatLeaf(i);
      }
      JTraceProbe.count(99_999);
    };
    inThreads(8, work, false);
    int threads = 8;
    if (virtual() != null) {
      inThreads(50, work, true);
      threads += 50;
    }
    expect("7", threads * 300_000L);
    expect("99999", threads);
  }

  // ---- Threads -----------------------------------------------------------------------------------

  private static java.lang.reflect.Method virtual() {
    try {
      return Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static void inThreads(int count, Runnable work, boolean virtual) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (virtual) {
        threads.add((Thread) virtual().invoke(null, work));
      } else {
        threads.add(new Thread(work));
        threads.get(i).start();
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  static void sleeps(int depth) throws InterruptedException {
    long token = JTraceProbe.enter(4);
    try {
      leaf(depth);
      if (depth % 3 == 0) {
        Thread.sleep(1);
      }
      if (depth > 1) {
        sleeps(depth - 1);
      }
      leaf(depth);
    } finally {
      JTraceProbe.exit(token);
    }
  }

  private static void threads(int count, boolean virtual) throws Exception {
    Runnable work = () -> {
      try {
        sleeps(5);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    };
    inThreads(count, work, virtual);
    StringBuilder path = new StringBuilder();
    for (int depth = 5; depth >= 1; depth--) {
      expect(path.append("/4").toString(), count);
      expect(path + "/3", 2L * count);
    }
  }

  // ---- Nodes with many children --------------------------------------------------------------------

  private static void wide() {
    for (int round = 0; round < 30; round++) {
      long token = JTraceProbe.enter(5);
      for (int id = 100; id < 6_100; id++) {
        JTraceProbe.leaf(id);
      }
      JTraceProbe.exit(token);
    }
    expect("/5", 30);
    for (int id = 100; id < 6_100; id++) {
      expect("/5/" + id, 30);
    }
  }

  // ---- Exceptions ----------------------------------------------------------------------------------

  static void throwsDeep(int depth) {
    long token = JTraceProbe.enter(6);
    if (depth == 0) {
      // Exits of these activations are never seen, as if their code were out of scope.
      throw new IllegalStateException();
    }
    throwsDeep(depth - 1);
    JTraceProbe.exit(token);
  }

  static void catches(int depth) {
    long token = JTraceProbe.enter(7);
    try {
      throwsDeep(depth);
    } catch (IllegalStateException e) {
      JTraceProbe.resume(token, 7);
      leaf(depth);
    }
    JTraceProbe.exit(token);
  }

  private static void exceptions() {
    for (int i = 0; i < 50_000; i++) {
      catches(i % 4);
    }
    expect("/7", 50_000);
    expect("/7/3", 50_000);
    expect("/7/6", 50_000);
    expect("/7/6/6", 37_500);
    expect("/7/6/6/6", 25_000);
    expect("/7/6/6/6/6", 12_500);
  }

  // ---- Stack overflow: may cut off any probe and any slow path -------------------------------------

  private static long depthReached;

  static void overflows(int variant) {
    long token = JTraceProbe.enter(8);
    depthReached++;
    try {
      // One path for each variant, so that slow paths run at the end of the stack, too.
      long inner = JTraceProbe.enter(10_000 + variant);
      JTraceProbe.exit(inner);
      overflows(variant);
    } finally {
      JTraceProbe.exit(token);
    }
  }

  private static void overflow() throws Exception {
    for (int variant = 0; variant < 40; variant++) {
      int v = variant;
      Runnable work = () -> {
        long token = JTraceProbe.enter(9);
        try {
          overflows(v);
        } catch (StackOverflowError expected) {
          JTraceProbe.resume(token, 9);
        }
        for (int i = 0; i < 1000; i++) {
          leaf(i);
        }
        JTraceProbe.exit(token);
        leaf(1);
      };
      Thread thread = new Thread(null, work, "overflow", 200_000 + 1_001 * variant);
      thread.start();
      thread.join();
    }
    expect("/9", 40);
    expect("/9/3", 40_000);
    expect("/3", 40);
    System.out.println("about 8 " + depthReached + " 120");
  }

  // ---- Memory runs out -----------------------------------------------------------------------------

  private static void memory() {
    for (int round = 0; round < 3; round++) {
      long token = JTraceProbe.enter(5);
      for (int id = 100; id < 100_000; id++) {
        long outer = JTraceProbe.enter(id);
        for (int child = 1; child <= 3; child++) {
          JTraceProbe.leaf(child);
        }
        JTraceProbe.exit(outer);
      }
      JTraceProbe.exit(token);
    }
    expect("/5", 3);
    expect("/5/100", 3);
    expect("/5/100/1", 3);
    System.out.println("total " + (3 + 3L * 99_900 * 4));
    System.out.println("pruned");
    // By routine counts are exact, wherever there was room for them.
    for (int id : new int[] {1, 2, 3}) {
      System.out.println("about " + id + " " + 3L * 99_900 + " 0");
    }
    for (int id : new int[] {100, 101, 50_000, 99_998, 99_999}) {
      System.out.println("about " + id + " 3 0");
    }
  }

  /** Argument: the case. */
  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "recursion": recursion(); break;
      case "leaves": leaves(); break;
      case "flat": flat(); break;
      case "threads": threads(2_000, false); break;
      case "virtual": threads(10_000, true); break;
      case "wide": wide(); break;
      case "exceptions": exceptions(); break;
      case "overflow": overflow(); break;
      case "memory": memory(); break;
      default: throw new IllegalArgumentException(args[0]);
    }
    EXPECTED.forEach((path, calls) -> System.out.println("path " + path + " " + calls));
  }
}
