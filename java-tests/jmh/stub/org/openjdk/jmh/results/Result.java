package org.openjdk.jmh.results;

/** As far as a profiler needs it. */
public abstract class Result<T extends Result<T>> {
  private final String label;
  private final double value;
  private final String unit;

  Result(String label, double value, String unit) {
    this.label = label;
    this.value = value;
    this.unit = unit;
  }

  public String getLabel() {
    return label;
  }

  public double getScore() {
    return value;
  }

  public String getScoreUnit() {
    return unit;
  }
}
