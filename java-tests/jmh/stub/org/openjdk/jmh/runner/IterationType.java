package org.openjdk.jmh.runner;

/** As far as a profiler needs it. */
public enum IterationType {
  WARMUP,
  MEASUREMENT
}
