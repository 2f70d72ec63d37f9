package programs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import jtrace.jmh.JTraceProfiler;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.Profiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.IterationResultMetaData;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.runner.IterationType;

/** Runs iterations as JMH does. Prints "name=value". */
public final class Iterations {
  private static final int OPERATIONS = 100_000;

  static volatile Object sink;

  private Iterations() {}

  public static void main(String[] args) throws Exception {
    Path out = Path.of(args[0]);
    JTraceProfiler profiler =
        new JTraceProfiler("out=" + out + ";metrics=alloc.bytes,cpu.ns;libPath=/lib/libjtrace.so");
    BenchmarkParams benchmark = new BenchmarkParams("com.acme.Bench.array");
    System.out.println("options=" + profiler.addJVMOptions(benchmark));
    for (IterationType type : new IterationType[] {IterationType.WARMUP, IterationType.MEASUREMENT}) {
      IterationParams iteration = new IterationParams(type);
      profiler.beforeIteration(benchmark, iteration);
      for (int i = 0; i < OPERATIONS; i++) operation();
      IterationResult result = new IterationResult(new IterationResultMetaData(OPERATIONS));
      for (Result<?> each : profiler.afterIteration(benchmark, iteration, result)) {
        // JMH's own allocations are far below one byte an operation.
        long score = (long) each.getScore();
        String value = each.getLabel().endsWith("cpu.ns") ? "" + (score > 0) : "" + score;
        System.out.println(each.getLabel().substring(1) + "=" + value + " " + each.getScoreUnit());
      }
    }
    System.out.println("kept=" + Files.exists(out.resolve("com.acme.Bench.array.bin")));
    for (Profiler each : ServiceLoader.load(Profiler.class)) {
      System.out.println("service=" + each.getClass().getName());
    }
    try {
      new JTraceProfiler("dir=x");
    } catch (ProfilerException e) {
      System.out.println("wrong=" + e.getMessage());
    }
  }

  private static void operation() {
    sink = new byte[1000];
  }
}
