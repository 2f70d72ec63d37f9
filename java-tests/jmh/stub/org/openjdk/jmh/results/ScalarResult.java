package org.openjdk.jmh.results;

/** As far as a profiler needs it. */
public class ScalarResult extends Result<ScalarResult> {
  public ScalarResult(String label, double n, String unit, AggregationPolicy policy) {
    super(label, n, unit);
  }
}
