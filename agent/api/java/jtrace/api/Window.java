package jtrace.api;

import java.util.List;

/**
 * What is counted from its opening on, in a scope. Needs a recording with call trees
 * ({@code record=tree}) and ends with it. To be asked and closed on the thread that opened it. Without
 * the agent it counts nothing.
 */
public final class Window implements AutoCloseable {
  private static final long NONE = 0;

  private final Scope scope;
  private final long number;
  private final Metric[] metrics;
  private final long[] before;

  Window(Scope scope, Metric... metrics) {
    this.scope = scope;
    this.metrics = metrics.clone();
    before = new long[metrics.length];
    number = Agent.find() ? Natives.openWindow(scope.ordinal()) : NONE;
    for (int i = metrics.length - 1; i >= 0; i--) before[i] = ownTotal(metrics[i]);
  }

  /** What was counted so far of one of the metrics that the window was opened with. */
  public long total(Metric metric) {
    if (number == NONE) return 0;
    for (int i = 0; i < metrics.length; i++) {
      if (metrics[i] != metric) continue;
      long own = ownTotal(metric) - before[i];
      return scope == Scope.DESCENDANTS ? own + Natives.windowTotal(number, metric.id()) : own;
    }
    throw new IllegalArgumentException("this window was not opened for " + metric);
  }

  /** What was counted so far of the methods that the pattern names; see {@link JTrace#method}. */
  public MethodStats method(Metric metric, String pattern) {
    return number == NONE
        ? MethodStats.NONE
        : Natives.windowMethod(number, metric.id(), pattern);
  }

  /** The call paths that spent most so far, callees not included, greatest first. */
  public List<CallPath> topPaths(Metric metric, int count) {
    return paths(metric, "", count);
  }

  /** The same of paths that end in a method that the pattern names. */
  public List<CallPath> topPaths(Metric metric, String pattern, int count) {
    return paths(metric, pattern, count);
  }

  /** All totals so far, as they are when they are asked for. */
  public Measurement measurement() {
    return new Measurement(number == NONE ? new Metric[0] : metrics, this);
  }

  @Override
  public void close() {
    if (number != NONE) Natives.closeWindow(number);
  }

  private List<CallPath> paths(Metric metric, String pattern, int count) {
    if (number == NONE) return List.of();
    return Natives.windowPaths(number, metric.id(), pattern, count)
        .lines()
        .map(CallPath::of)
        .toList();
  }

  private long ownTotal(Metric metric) {
    return scope == Scope.PROCESS ? JTrace.processTotal(metric) : JTrace.total(metric);
  }
}
