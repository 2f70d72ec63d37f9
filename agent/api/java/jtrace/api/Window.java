package jtrace.api;

import java.util.List;

/**
 * The counts since its opening, in a scope. Needs a recording with call trees ({@code record=tree})
 * and ends with it. Query methods and paths, and close it, on the thread that opened it; totals are
 * those of the opener, on any thread. Without the agent it counts nothing.
 */
public final class Window implements AutoCloseable {
  private static final long NONE = 0;

  private final Scope scope;
  private final Thread opener = Thread.currentThread();
  private final long number;
  private final Metric[] metrics;
  private final long[] before;

  Window(Scope scope, Metric... metrics) {
    this.scope = scope;
    this.metrics = metrics.clone();
    before = new long[metrics.length];
    number = Agent.find() ? Natives.openWindow(scope.ordinal()) : NONE;
    try {
      // The first ones, whose readings disturb the least, are read last.
      for (int i = metrics.length - 1; i >= 0; i--) before[i] = now(metrics[i]);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** The count so far of one of the metrics that the window was opened with. */
  public long total(Metric metric) {
    if (number == NONE) return 0;
    return openerTotal(metric) + descendantsTotal(metric);
  }

  /** The same without the counts of descendants. */
  public long openerTotal(Metric metric) {
    for (int i = 0; i < metrics.length; i++) {
      if (metrics[i] == metric) return number == NONE ? 0 : now(metric) - before[i];
    }
    throw new IllegalArgumentException("this window was not opened for " + metric);
  }

  /** The counts of descendants, which {@link #openerTotal} does not include; 0 in other scopes. */
  public long descendantsTotal(Metric metric) {
    return number == NONE || scope != Scope.DESCENDANTS
        ? 0
        : Natives.windowTotal(number, metric.id());
  }

  /** The counts so far of the methods that the pattern names; see {@link JTrace#method}. */
  public MethodStats method(Metric metric, String pattern) {
    return number == NONE
        ? MethodStats.NONE
        : Natives.windowMethod(number, metric.id(), pattern);
  }

  /**
   * The call paths that spent most so far, callees not included, greatest first. {@link Metric#CPU}
   * needs a recording with {@code clock=cpu}, and is known up to the last probe of each thread.
   */
  public List<CallPath> topPaths(Metric metric, int count) {
    return topPaths(metric, "", "", count);
  }

  /**
   * The same, for some paths only.
   *
   * @param below only paths of the opening thread through a method that this pattern names, shown
   *     from there on; empty: all
   * @param end only paths that end in a method that this pattern names; empty: any
   */
  public List<CallPath> topPaths(Metric metric, String below, String end, int count) {
    if (number == NONE) return List.of();
    return Natives.windowPaths(number, metric.id(), below, end, count)
        .lines()
        .map(CallPath::of)
        .toList();
  }

  /** All totals so far. */
  public Measurement measurement() {
    if (number == NONE) return new Measurement(new Metric[0], new long[0], 1);
    long[] values = new long[metrics.length];
    for (int i = 0; i < metrics.length; i++) values[i] = total(metrics[i]);
    return new Measurement(metrics, values, 1);
  }

  @Override
  public void close() {
    if (number != NONE) Natives.closeWindow(number);
  }

  private long now(Metric metric) {
    return scope == Scope.PROCESS ? JTrace.processTotal(metric) : JTrace.total(opener, metric);
  }
}
