package jtrace.api;

import java.util.Arrays;

/** Runs something between two readings of the calling thread's totals. */
final class Measuring {
  /** The number of parts that the runs are divided into; the least part counts. */
  private static final int BATCHES = 10;

  private final Metric[] metrics;
  private final long[] before;
  private final long[] after;

  Measuring(Metric... metrics) {
    this.metrics = metrics;
    before = new long[metrics.length];
    after = new long[metrics.length];
  }

  /** The metrics available for the calling thread; virtual threads do not have all. */
  static Metric[] measurable() {
    return JTrace.metrics().stream()
        .filter(metric -> metric.reach() != Metric.Reach.PROCESS && metric != Metric.CALLS)
        .filter(Measuring::isReported)
        .toArray(Metric[]::new);
  }

  private static boolean isReported(Metric metric) {
    try {
      JTrace.total(metric);
      return true;
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }

  Measurement once(Runnable run) {
    measure(run, 1);
    return new Measurement(metrics, difference(), 1);
  }

  Measurement perRun(int runs, Runnable run) {
    run.run();
    long[] least = new long[metrics.length];
    Arrays.fill(least, Long.MAX_VALUE);
    int batches = Math.min(BATCHES, runs);
    for (int batch = 0; batch < batches; batch++) {
      int size = runs / batches + (batch < runs % batches ? 1 : 0);
      measure(run, size);
      long[] values = difference();
      for (int i = 0; i < least.length; i++) least[i] = Math.min(least[i], values[i] / size);
    }
    return new Measurement(metrics, least, runs);
  }

  // Allocates nothing between the readings. The first metrics, whose readings disturb the least,
  // are read last before and first after.
  private void measure(Runnable run, int times) {
    for (int i = metrics.length - 1; i >= 0; i--) before[i] = JTrace.total(metrics[i]);
    for (int i = 0; i < times; i++) run.run();
    for (int i = 0; i < metrics.length; i++) after[i] = JTrace.total(metrics[i]);
  }

  private long[] difference() {
    long[] values = new long[metrics.length];
    for (int i = 0; i < values.length; i++) values[i] = after[i] - before[i];
    return values;
  }
}
