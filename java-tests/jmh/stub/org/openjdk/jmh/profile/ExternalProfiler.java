package org.openjdk.jmh.profile;

import java.io.File;
import java.util.Collection;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;

/** As far as a profiler needs it. */
public interface ExternalProfiler extends Profiler {
  Collection<String> addJVMInvokeOptions(BenchmarkParams params);

  Collection<String> addJVMOptions(BenchmarkParams params);

  void beforeTrial(BenchmarkParams benchmarkParams);

  Collection<? extends Result<?>> afterTrial(BenchmarkResult br, long pid, File out, File err);

  boolean allowPrintOut();

  boolean allowPrintErr();
}
