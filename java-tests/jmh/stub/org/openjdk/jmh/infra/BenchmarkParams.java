package org.openjdk.jmh.infra;

/** As far as a profiler needs it. */
public class BenchmarkParams {
  private final String benchmark;

  public BenchmarkParams(String benchmark) {
    this.benchmark = benchmark;
  }

  public String getBenchmark() {
    return benchmark;
  }
}
