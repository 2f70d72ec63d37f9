package jtrace.jmh;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import jtrace.api.JTrace;
import jtrace.api.Metric;
import jtrace.api.Reader;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * The metrics of one operation of a benchmark, as secondary results {@code ·alloc.bytes} and so on:
 * the process's totals of each measured iteration, divided by its operations. They include JMH's
 * own work around the operations, which is negligible with many operations.
 *
 * <pre>-prof "jtrace.jmh.JTraceProfiler:libPath=/path/to/libjtrace.so;out=traces;metrics=alloc.bytes,cpu.ns"</pre>
 */
public final class JTraceProfiler implements InternalProfiler, ExternalProfiler {
  private static final String PREFIX = "\u00b7";

  private final ProfilerOptions options;
  private Metric[] metrics;
  private Reader reader;

  public JTraceProfiler() throws ProfilerException {
    this("");
  }

  public JTraceProfiler(String initLine) throws ProfilerException {
    options = ProfilerOptions.parse(initLine);
  }

  @Override
  public String getDescription() {
    return "jtrace: exact metrics of each operation, traces with the calls";
  }

  // ---- In the JVM of the benchmark

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    if (!JTrace.isActive()) {
      throw new IllegalStateException(
          "the jtrace agent is not in this JVM; give libPath=/path/to/libjtrace.so, or"
              + " -jvmArgsAppend -agentpath:/path/to/libjtrace.so=metrics=alloc.bytes");
    }
    metrics = options.metrics().stream().map(Metric::named).toArray(Metric[]::new);
    reader = JTrace.processReader(metrics);
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    List<ScalarResult> results = new ArrayList<>();
    long[] deltas = new long[metrics.length];
    for (int i = 0; i < deltas.length; i++) deltas[i] = reader.lastDelta(metrics[i]);
    if (iteration.getType() == IterationType.WARMUP) return results;
    long operations = result.getMetadata().getAllOps();
    for (int i = 0; i < deltas.length && operations > 0; i++) {
      String unit = metrics[i].unit().isEmpty() ? "#" : metrics[i].unit();
      results.add(
          new ScalarResult(
              PREFIX + metrics[i].name(),
              (double) deltas[i] / operations,
              unit + "/op",
              AggregationPolicy.AVG));
    }
    keepTrace(benchmark);
    return results;
  }

  /** The last iteration's trace replaces the earlier ones: it includes them all. */
  private void keepTrace(BenchmarkParams benchmark) {
    if (options.out() == null) return;
    options.out().toFile().mkdirs();
    JTrace.dump(options.out().resolve(benchmark.getBenchmark() + ".bin"));
  }

  // ---- In JMH's own JVM

  @Override
  public Collection<String> addJVMOptions(BenchmarkParams benchmark) {
    Path library = options.library();
    if (library == null) return List.of();
    if (options.out() != null) options.out().toFile().mkdirs();
    String folder = options.out() != null ? options.out().toString() : "/tmp";
    return List.of(
        "-agentpath:" + library + "=log=off,out=" + folder + "/jmh-%p.bin,metrics="
            + String.join(";", options.metrics()));
  }

  @Override
  public Collection<String> addJVMInvokeOptions(BenchmarkParams benchmark) {
    return List.of();
  }

  @Override
  public void beforeTrial(BenchmarkParams benchmark) {}

  @Override
  public Collection<? extends Result<?>> afterTrial(
      BenchmarkResult result, long pid, File out, File err) {
    return List.of();
  }

  @Override
  public boolean allowPrintOut() {
    return true;
  }

  @Override
  public boolean allowPrintErr() {
    return true;
  }
}
