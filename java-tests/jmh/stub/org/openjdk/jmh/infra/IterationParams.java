package org.openjdk.jmh.infra;

import org.openjdk.jmh.runner.IterationType;

/** As far as a profiler needs it. */
public class IterationParams {
  private final IterationType type;

  public IterationParams(IterationType type) {
    this.type = type;
  }

  public IterationType getType() {
    return type;
  }
}
