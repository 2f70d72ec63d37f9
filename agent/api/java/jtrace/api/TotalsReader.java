package jtrace.api;

/** A reader of totals that {@link JTrace} provides. */
final class TotalsReader implements Reader {
  private final Thread thread; // null: the process
  private final Metric[] metrics;
  private final long[] last;

  TotalsReader(Thread thread, Metric... metrics) {
    this.thread = thread;
    this.metrics = metrics.clone();
    last = new long[metrics.length];
    readInto(last);
  }

  @Override
  public long total(Metric metric) {
    return now(metrics[indexOf(metric)]);
  }

  @Override
  public long lastDelta(Metric metric) {
    int i = indexOf(metric);
    long total = now(metric);
    long delta = total - last[i];
    last[i] = total;
    return delta;
  }

  @Override
  public void readInto(long[] totals) {
    if (totals.length < metrics.length) {
      throw new IllegalArgumentException(
          metrics.length + " metrics and room for " + totals.length + " totals");
    }
    for (int i = 0; i < metrics.length; i++) totals[i] = now(metrics[i]);
    // The cursors move only if all metrics could be read.
    System.arraycopy(totals, 0, last, 0, last.length);
  }

  @Override
  public void close() {}

  private long now(Metric metric) {
    return thread == null ? JTrace.processTotal(metric) : JTrace.total(thread, metric);
  }

  private int indexOf(Metric metric) {
    for (int i = 0; i < metrics.length; i++) {
      if (metrics[i] == metric) return i;
    }
    throw new IllegalArgumentException("this reader was not made for " + metric);
  }
}
