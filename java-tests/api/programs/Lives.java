package programs;

import jtrace.api.JTrace;
import jtrace.api.Metric;

/**
 * Makes arrays of 10,016 bytes, drops some, and waits until collections have found them dead. Does
 * so in two recordings; the first ends while some of its arrays live. Argument: the file of the
 * second. Prints "name=value".
 */
public final class Lives {
  private static final int SIZE = 10_016;
  private static final int MADE = 2_000;
  private static final int KEPT = 700;
  private static final int OUTLIVING = 500;
  private static final int LATER = 300;
  private static final int PATIENCE_MS = 120_000;
  private static final int SENTINEL = 1 << 21;

  private static Object[] kept;
  private static Object sentinel;

  private Lives() {}

  private static void fill(Object[] into) {
    for (int i = 0; i < into.length; i++) into[i] = new byte[SIZE - 16];
  }

  private static void drop(Object[] from, int first) {
    for (int i = first; i < from.length; i++) from[i] = null;
  }

  private static long freed() {
    return JTrace.processTotal(Metric.FREED_BYTES);
  }

  private static long live() {
    return JTrace.processTotal(Metric.LIVE_BYTES);
  }

  /** All bytes allocated since the recording began, dead or alive. */
  private static long allocated() {
    for (;;) {
      long before = freed();
      long sum = live() + before;
      if (freed() == before) return sum;
    }
  }

  /**
   * After this the JVM has reported all objects dropped before as dead. It reports the dead objects
   * of a collection some time later, one collection after the other: once it has reported those of
   * a second collection, the first is complete. Other dead objects may end a wait before the
   * sentinel is among them; it would be counted with the next.
   */
  private static void collect() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      sentinel = new byte[SENTINEL];
      sentinel = null;
      long before = freed();
      System.gc();
      for (int waited = 0; freed() < before + SENTINEL; waited++) {
        if (waited == PATIENCE_MS) throw new IllegalStateException("no dead objects reported");
        Thread.sleep(1);
      }
    }
    settle();
  }

  /** Until nothing was reported for a tenth of a second. */
  private static void settle() throws InterruptedException {
    long before;
    do {
      before = freed();
      Thread.sleep(100);
    } while (freed() != before);
  }

  private static void first() throws InterruptedException {
    Object[] arrays = new Object[MADE];
    collect();
    long ownBefore = JTrace.total(Metric.ALLOC_BYTES);
    long allocatedBefore = allocated();
    fill(arrays);
    long allocated = allocated() - allocatedBefore;
    long own = JTrace.total(Metric.ALLOC_BYTES) - ownBefore;
    long freedBefore = freed();
    long liveBefore = live();
    drop(arrays, KEPT);
    collect();
    long freed = freed() - freedBefore - 2 * SENTINEL;
    long live = live() - liveBefore;
    drop(arrays, OUTLIVING);
    collect();
    long freedMore = freed() - freedBefore - 4 * SENTINEL;
    System.out.println("own=" + own);
    System.out.println("allocated=" + allocated);
    System.out.println("freed=" + freed);
    System.out.println("live=" + live);
    System.out.println("freed more=" + freedMore);
    System.out.println("freed in all=" + freed());
    kept = arrays;
  }

  private static void second(String trace) throws InterruptedException {
    JTrace.stop();
    try {
      System.out.println("stopped=" + live());
    } catch (IllegalStateException e) {
      System.out.println("stopped=" + e.getMessage());
    }
    JTrace.start("out=" + trace + ",mode=events,metrics=live.bytes;freed.bytes");
    System.out.println("begins anew=" + (live() < OUTLIVING * SIZE));
    Object[] arrays = new Object[LATER];
    // JDK 17 misses the first ones of threads that ran before the recording.
    for (int i = 0; i < 10; i++) fill(arrays);
    drop(arrays, 0);
    collect();
    long allocatedBefore = allocated();
    fill(arrays);
    long allocated = allocated() - allocatedBefore;
    long freedBefore = freed();
    drop(arrays, 0);
    drop(kept, 0);
    collect();
    long freed = freed() - freedBefore - 2 * SENTINEL;
    System.out.println("allocated later=" + allocated);
    System.out.println("freed later=" + freed);
  }

  public static void main(String[] args) throws InterruptedException {
    try {
      System.out.println("of a thread=" + JTrace.total(Metric.LIVE_BYTES));
    } catch (UnsupportedOperationException e) {
      System.out.println("of a thread=" + e.getMessage());
    }
    first();
    second(args[0]);
  }
}
