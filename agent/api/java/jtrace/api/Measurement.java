package jtrace.api;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The counts of some metrics while something ran. Without the agent it has none. */
public class Measurement {
  private final Metric[] metrics;
  private final long[] values;
  private final int runs;

  Measurement(Metric[] metrics, long[] values, int runs) {
    this.metrics = metrics;
    this.values = values;
    this.runs = runs;
  }

  /** Returns the current values of the given one at each call: for running measurements. */
  public static Measurement live(Supplier<Measurement> now) {
    return new Live(now);
  }

  /**
   * The value, for {@link JTrace#perRun} that of one run; 0 without the agent.
   *
   * @throws IllegalArgumentException if the metric was not measured
   */
  public long get(Metric metric) {
    for (int i = 0; i < metrics.length; i++) {
      if (metrics[i] == metric) return values[i];
    }
    if (metrics.length == 0) return 0;
    throw new IllegalArgumentException(metric + " was not measured; these were: " + this);
  }

  /** All measured values, by metric. */
  public Map<Metric, Long> values() {
    Map<Metric, Long> all = new LinkedHashMap<>();
    for (int i = 0; i < metrics.length; i++) all.put(metrics[i], values[i]);
    return all;
  }

  /** The number of runs; the values are those of one run. */
  public int runs() {
    return runs;
  }

  /** {@code alloc.bytes 101,600 B, calls 100}: the values that are not 0. */
  @Override
  public String toString() {
    if (metrics.length == 0) return "nothing: the jtrace agent is not in this JVM";
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < metrics.length; i++) {
      long value = values[i];
      if (value == 0) continue;
      if (text.length() > 0) text.append(", ");
      text.append(metrics[i]).append(' ').append(Quantities.text(value, metrics[i].unit()));
    }
    return text.length() == 0 ? "nothing was counted" : text.toString();
  }

  private static final class Live extends Measurement {
    private final Supplier<Measurement> now;

    Live(Supplier<Measurement> now) {
      super(new Metric[0], new long[0], 1);
      this.now = now;
    }

    @Override
    public long get(Metric metric) {
      return now.get().get(metric);
    }

    @Override
    public Map<Metric, Long> values() {
      return now.get().values();
    }

    @Override
    public String toString() {
      return now.get().toString();
    }
  }
}
