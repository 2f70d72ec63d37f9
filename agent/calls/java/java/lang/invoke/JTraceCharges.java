package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Metrics by call path: a probe charges the thread's counts since the last one to the node that was
 * current (S5.2: Delta = Cum - LastCum).
 *
 * <p>alloc.bytes is read from the JVM's own structure for the thread; all other metrics are counted
 * in the thread's block (agent/signal_safe/metric_counts.h) by the code that notices the event.
 *
 * <p>Metrics with ELAPSED are what all threads were charged with meanwhile (elapsed.NAME): whoever
 * charges adds to the arena's sum, and each probe charges what was added since the thread's last
 * one.
 */
final class JTraceCharges {
  private static final long ARENA = JTraceProbe.ARENA;

  /**
   * The metrics' numbers plus 1, a byte for each index in a node, from the lowest on. alloc.bytes,
   * number 0, is first.
   */
  private static final long METRICS = JTraceProbe.METRICS;
  private static final boolean ALLOC = (METRICS & 0xFF) == 1;
  /** Added to the number of a metric. Those with it are last. */
  private static final int ELAPSED = 64;
  private static final int COUNT = Long.SIZE - Long.numberOfLeadingZeros(METRICS) + 7 >> 3;
  private static final int FIRST_ELAPSED = firstElapsed();
  /** For each index of a metric that is kept for all threads, too, that index plus 1. */
  private static final long TWINS = twins();
  /** Metrics of calls out of scope are charged where they are counted (JTraceOutside). */
  private static final boolean COUNTED = countsOthers(METRICS >>> (ALLOC ? 8 : 0));
  /** Whether each probe has something to charge. */
  static final boolean ANY = ALLOC || COUNTED;

  private static final int ARENA_SINK_COUNTERS = 1064;
  private static final int ARENA_ELAPSED = 1472;
  private static final int ALLOC_SITES = 2;
  /** Metrics of JTraceOutside. */
  static final int OUTSIDE_NANOS = 25;
  static final int OUTSIDE_ELEMENTS = 26;
  private static final int BLOCK_CHANGES = 384;
  private static final int BLOCK_ALLOC_OFFSET = 392;
  static final int NODE_METRICS =
      JTraceProbe.CLOCK == 0 ? NODE_SIZE : NODE_SIZE + NODE_TIMES_SIZE;

  private static final Unsafe U = Unsafe.getUnsafe();

  private JTraceCharges() {}

  /** For a thread that gets its state; {@code charged}: address of a ThreadMetrics. */
  static void begin(long state, long charged, long tid, boolean virtual) {
    U.putLong(state + STATE_METRICS, charged);
    long block = JTraceMetrics.begin(tid, virtual, METRICS, charged);
    U.putLong(state + STATE_COUNTERS, block != 0 ? block : ARENA + ARENA_SINK_COUNTERS);
    for (int index = FIRST_ELAPSED; index < COUNT; index++) {
      long at = (long) index << 3;
      U.putLong(charged + at, U.getLong(ARENA + ARENA_ELAPSED + at));
    }
  }

  /** The index of a metric in a node; -1: it is not charged. */
  static int indexOf(int metric) {
    for (int index = 0; index < PATH_METRICS; index++) {
      if (((int) (METRICS >>> (index << 3)) & 0xFF) == metric + 1) {
        return index;
      }
    }
    return -1;
  }

  private static boolean countsOthers(long metrics) {
    for (long rest = metrics; rest != 0; rest >>>= 8) {
      int metric = (int) (rest & 0xFF) - 1;
      if (metric != OUTSIDE_NANOS && metric != OUTSIDE_ELEMENTS && metric < ELAPSED) {
        return true;
      }
    }
    return false;
  }

  private static int firstElapsed() {
    int index = 0;
    while (index < COUNT && ((int) (METRICS >>> (index << 3)) & 0xFF) <= ELAPSED) {
      index++;
    }
    return index;
  }

  private static long twins() {
    long twins = 0;
    for (int index = FIRST_ELAPSED; index < COUNT; index++) {
      int metric = ((int) (METRICS >>> (index << 3)) & 0xFF) - 1 - ELAPSED;
      twins |= (long) (index + 1) << (indexOf(metric) << 3);
    }
    return twins;
  }

  /** Charges the node with the counts since the last probe. */
  @ForceInline
  static void charge(long state, long node) {
    if (!ANY) {
      return;
    }
    long block = U.getLong(state + STATE_COUNTERS);
    if (ALLOC) {
      long now = JTraceMetrics.allocated() + U.getLong(block + BLOCK_ALLOC_OFFSET);
      long metrics = U.getLong(state + STATE_METRICS);
      long last = U.getLong(metrics);
      if (now != last) {
        U.putLong(metrics, now);
        U.putLong(node + NODE_METRICS, U.getLong(node + NODE_METRICS) + (now - last));
        addForAll(state, 0, now - last);
      }
    }
    if (COUNTED && U.getLong(block + BLOCK_CHANGES) != U.getLong(state + STATE_CHANGES)) {
      chargeCounted(state, node, block);
    }
    for (int index = FIRST_ELAPSED; index < COUNT; index++) {
      chargeElapsed(state, node, (long) index << 3);
    }
  }

  @ForceInline
  private static void chargeElapsed(long state, long node, long at) {
    long charged = U.getLong(state + STATE_METRICS) + at;
    long now = U.getLongOpaque(null, ARENA + ARENA_ELAPSED + at);
    long last = U.getLong(charged);
    if (now != last) {
      U.putLong(charged, now);
      U.putLong(node + NODE_METRICS + at, U.getLong(node + NODE_METRICS + at) + (now - last));
    }
  }

  /** The lost state's counts are many threads', and their differences nobody's. */
  @ForceInline
  private static void addForAll(long state, int index, long delta) {
    int twin = (int) (TWINS >>> (index << 3)) & 0xFF;
    if (twin != 0 && state != ARENA) {
      U.getAndAddLong(null, ARENA + ARENA_ELAPSED + ((long) (twin - 1) << 3), delta);
    }
  }

  /** alloc.sites: the code runs on the block's own thread. */
  @ForceInline
  static void countAllocation(long block) {
    long sites = block + COUNTS + (ALLOC_SITES << 3);
    U.putLong(sites, U.getLong(sites) + 1);
    U.putLong(block + BLOCK_CHANGES, U.getLong(block + BLOCK_CHANGES) + 1);
  }

  private static void chargeCounted(long state, long node, long block) {
    U.putLong(state + STATE_CHANGES, U.getLong(block + BLOCK_CHANGES));
    long charged = U.getLong(state + STATE_METRICS);
    for (int index = ALLOC ? 1 : 0; index < FIRST_ELAPSED; index++) {
      int metric = (int) (METRICS >>> (index << 3)) & 0xFF;
      long at = (long) index << 3;
      long now = U.getLong(block + COUNTS + ((long) (metric - 1) << 3));
      long delta = now - U.getLong(charged + at);
      U.putLong(charged + at, now);
      U.putLong(node + NODE_METRICS + at, U.getLong(node + NODE_METRICS + at) + delta);
      addForAll(state, index, delta);
    }
  }
}
