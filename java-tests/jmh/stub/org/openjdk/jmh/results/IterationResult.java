package org.openjdk.jmh.results;

/** As far as a profiler needs it. */
public class IterationResult {
  private final IterationResultMetaData metadata;

  public IterationResult(IterationResultMetaData metadata) {
    this.metadata = metadata;
  }

  public IterationResultMetaData getMetadata() {
    return metadata;
  }
}
