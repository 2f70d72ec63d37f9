package programs;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import jtrace.api.JTrace;
import jtrace.api.Metric;

/**
 * Makes arrays of 1,016 bytes on several call paths, drops some, and waits until collections have
 * found them dead. A phantom reference of each array says what became of it. Arguments: a file for
 * a copy of the trace, and optionally "next": then the arrays of before are in an earlier file.
 * Prints "name=value": of each path what it made and what was freed.
 */
public final class LivePaths {
  private static final int SIZE = 1_000;
  private static final int SENTINEL = 1 << 21;
  private static final int PATIENCE_MS = 120_000;
  private static final int LEVELS = 5;

  /** What became of one array. */
  private static final class Mark extends PhantomReference<Object> {
    final String path;

    Mark(Object object, String path) {
      super(object, QUEUE);
      this.path = path;
    }
  }

  private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
  private static final Set<Mark> MARKS = ConcurrentHashMap.newKeySet();
  private static final Map<String, int[]> COUNTS = new TreeMap<>();

  private static Object sink;

  private LivePaths() {}

  private static void mark(Object object, String path) {
    MARKS.add(new Mark(object, path));
    synchronized (COUNTS) {
      COUNTS.computeIfAbsent(path, it -> new int[2])[0]++;
    }
  }

  private static int takeDead() {
    int dead = 0;
    for (Object mark; (mark = QUEUE.poll()) != null; dead++) {
      MARKS.remove(mark);
      synchronized (COUNTS) {
        COUNTS.get(((Mark) mark).path)[1]++;
      }
    }
    return dead;
  }

  // ---- The paths, each to make()

  private static Object make() {
    return new byte[SIZE];
  }

  private static void evens(Object[] into) {
    for (int i = 0; i < into.length; i++) {
      into[i] = make();
      mark(into[i], "evens");
    }
  }

  private static void kept(Object[] into) {
    for (int i = 0; i < into.length; i++) {
      into[i] = make();
      mark(into[i], "kept");
    }
  }

  private static void dropped(int count) {
    for (int i = 0; i < count; i++) {
      sink = make();
      mark(sink, "dropped");
    }
    sink = null;
  }

  /** One array a level, from the last to the first. */
  private static void recursive(Object[] into, int level) {
    if (level > LEVELS) return;
    into[level - 1] = make();
    mark(into[level - 1], "recursive" + level);
    recursive(into, level + 1);
  }

  private static void ended(Object[] into) {
    for (int i = 0; i < into.length; i++) {
      into[i] = make();
      mark(into[i], "ended");
    }
  }

  private static void waiting(Object[] into) {
    for (int i = 0; i < into.length; i++) {
      into[i] = make();
      mark(into[i], "waiting");
    }
  }

  private static void virtual(Object[] into, int first, int end) {
    for (int i = first; i < end; i++) {
      into[i] = make();
      mark(into[i], "virtual");
      Thread.yield();
    }
  }

  // ---- Collections

  private static long freed() {
    return JTrace.processTotal(Metric.FREED_BYTES);
  }

  /** After this the JVM has reported what was dropped before: see Lives. */
  private static void collect() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      sink = new byte[SENTINEL];
      sink = null;
      long before = freed();
      System.gc();
      for (int waited = 0; freed() < before + SENTINEL; waited++) {
        if (waited == PATIENCE_MS) throw new IllegalStateException("no dead objects reported");
        Thread.sleep(1);
      }
    }
  }

  /** The references of all dead arrays are in the queue. */
  private static void takeDead(int expected) throws InterruptedException {
    int dead = takeDead();
    for (int waited = 0; dead < expected; waited++) {
      if (waited == PATIENCE_MS) throw new IllegalStateException("dead: " + dead);
      Thread.sleep(1);
      dead += takeDead();
    }
    if (dead != expected) throw new IllegalStateException("dead: " + dead);
  }

  private static void makeOnVirtualThreads(Object[] into) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < into.length; i += 5) {
      int first = i;
      threads.add(VirtualThreads.start(() -> virtual(into, first, first + 5)));
    }
    for (Thread thread : threads) thread.join();
  }

  /** A thread that was there before uses up the memory of which the JVM reports nothing. */
  private static void warmUp() {
    for (int i = 0; i < 10_000; i++) sink = make();
    sink = null;
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }

  private static void printTotals(String when) {
    print("freed objects " + when, JTrace.processTotal(Metric.named("freed.objects")));
    print("live objects " + when, JTrace.processTotal(Metric.named("live.objects")));
    print("freed bytes " + when, freed());
    print("live bytes " + when, JTrace.processTotal(Metric.LIVE_BYTES));
  }

  private static String ofMethod() {
    try {
      return "" + JTrace.method(Metric.LIVE_BYTES, "programs.LivePaths::make");
    } catch (IllegalStateException e) {
      return e.getMessage();
    }
  }

  public static void main(String[] args) throws InterruptedException {
    boolean isNext = args.length > 1;
    boolean hasVirtual = Runtime.version().feature() >= 21;
    warmUp();
    Object[] evens = new Object[400];
    Object[] kept = new Object[100];
    Object[] levels = new Object[LEVELS];
    Object[] ended = new Object[50];
    Object[] waiting = new Object[60];
    Object[] virtual = new Object[hasVirtual ? 100 : 0];
    CountDownLatch made = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Thread thread = new Thread(() -> ended(ended), "ended");
    thread.start();
    Thread waiter = new Thread(() -> {
      waiting(waiting);
      made.countDown();
      try {
        end.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }, "waiting");
    waiter.start();
    evens(evens);
    kept(kept);
    dropped(300);
    recursive(levels, 1);
    if (hasVirtual) makeOnVirtualThreads(virtual);
    thread.join();
    made.await();
    // By now the writer has forgotten the thread.
    if (isNext) Thread.sleep(3_000);
    if (isNext) print("first", JTrace.dump().get());
    for (int i = 0; i < evens.length; i += 2) evens[i] = null;
    levels[0] = levels[2] = levels[4] = null;
    Arrays.fill(ended, 0, 30, null);
    Arrays.fill(waiting, null);
    for (int i = 0; i < virtual.length; i++) {
      if (i % 5 < 2) virtual[i] = null;
    }
    collect();
    takeDead(200 + 300 + 3 + 30 + 60 + (hasVirtual ? 40 : 0));
    COUNTS.forEach((path, counts) -> print(path, counts[0] + " " + counts[1]));
    printTotals("before");
    print("query of a method", ofMethod());
    JTrace.dump(Path.of(args[0]));
    printTotals("after");
    end.countDown();
    waiter.join();
    if (kept[0] == null || evens[1] == null) throw new IllegalStateException();
  }
}
