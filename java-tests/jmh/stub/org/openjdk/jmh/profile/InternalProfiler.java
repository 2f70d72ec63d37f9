package org.openjdk.jmh.profile;

import java.util.Collection;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/** As far as a profiler needs it. */
public interface InternalProfiler extends Profiler {
  void beforeIteration(BenchmarkParams benchmarkParams, IterationParams iterationParams);

  Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmarkParams, IterationParams iterationParams, IterationResult result);
}
