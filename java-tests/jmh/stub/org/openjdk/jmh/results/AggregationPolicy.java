package org.openjdk.jmh.results;

/** As far as a profiler needs it. */
public enum AggregationPolicy {
  AVG,
  SUM,
  MAX,
  MIN
}
