package org.openjdk.jmh.results;

/** As far as a profiler needs it. */
public class IterationResultMetaData {
  private final long allOps;

  public IterationResultMetaData(long allOps) {
    this.allOps = allOps;
  }

  public long getAllOps() {
    return allOps;
  }
}
