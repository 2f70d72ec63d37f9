package jtrace.api;

import java.util.LinkedHashMap;
import java.util.Map;

/** What was counted of some metrics while something ran. Without the agent it has none. */
public final class Measurement {
  private final Metric[] metrics;
  private final long[] values; // null: those of the window now
  private final Window window;
  private final int runs;

  Measurement(Metric[] metrics, long[] values, int runs) {
    this.metrics = metrics;
    this.values = values;
    this.window = null;
    this.runs = runs;
  }

  /** What the window has counted when it is asked. */
  Measurement(Metric[] metrics, Window window) {
    this.metrics = metrics;
    this.values = null;
    this.window = window;
    this.runs = 1;
  }

  /**
   * The value, of {@link JTrace#perRun} that of one run; 0 without the agent.
   *
   * @throws IllegalArgumentException if the metric was not measured
   */
  public long get(Metric metric) {
    for (int i = 0; i < metrics.length; i++) {
      if (metrics[i] == metric) return value(i);
    }
    if (metrics.length == 0) return 0;
    throw new IllegalArgumentException(metric + " was not measured; these were: " + this);
  }

  /** All that was measured, by metric. */
  public Map<Metric, Long> values() {
    Map<Metric, Long> all = new LinkedHashMap<>();
    for (int i = 0; i < metrics.length; i++) all.put(metrics[i], value(i));
    return all;
  }

  /** How many runs it took; the values are those of one. */
  public int runs() {
    return runs;
  }

  /** {@code alloc.bytes 101,600 B, calls 100}: what is not 0. */
  @Override
  public String toString() {
    if (metrics.length == 0) return "nothing: the jtrace agent is not in this JVM";
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < metrics.length; i++) {
      long value = value(i);
      if (value == 0) continue;
      if (text.length() > 0) text.append(", ");
      text.append(metrics[i]).append(' ').append(Quantities.text(value, metrics[i].unit()));
    }
    return text.length() == 0 ? "nothing was counted" : text.toString();
  }

  private long value(int i) {
    return values != null ? values[i] : window.total(metrics[i]);
  }
}
