package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What all threads were charged with between a method's entry and its exit (S3.17, "elapsed"). */
final class ElapsedMetricsTest {
  private static final String METRIC = "alloc.sites";
  private static final String ELAPSED = "elapsed.alloc.sites";

  private final Jvm.Result run = run(METRIC);

  private static Jvm.Result run(String metric) {
    Jvm.Result run =
        new Jvm().agent("mode=events,include=Meanwhile,metrics=elapsed." + metric).run("Meanwhile");
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  private long flat(String metric, String column, String method) {
    return run.report("--report=flat", "--metric=" + metric).sum(metric + "." + column, method);
  }

  @Test
  void aMethodThatWaitsHasWhatTheOtherThreadDid() {
    String method = "Meanwhile.waitFor(Thread)";
    assertEquals(7, flat(METRIC, "cum", method));
    assertEquals(1007, flat(ELAPSED, "cum", method));
    assertEquals(1000, flat(ELAPSED, "base", method));
    assertEquals(1000, flat(ELAPSED, "cum", "Meanwhile.other()"));
  }

  @Test
  void aMethodThatRunsAloneHasItsOwn() {
    assertEquals(5, flat(METRIC, "cum", "Meanwhile.alone()"));
    assertEquals(5, flat(ELAPSED, "cum", "Meanwhile.alone()"));
  }

  /** Three threads at once: the one that waits for the others has the sum, they have at most that. */
  @Test
  void threadsAtOnceAddUp() {
    assertEquals(50_000, flat(METRIC, "cum", "Meanwhile.both(Thread,Thread)"));
    assertEquals(120_000, flat(ELAPSED, "cum", "Meanwhile.both(Thread,Thread)"));
    for (int i = 0; i < 2; i++) {
      String lambda = "Meanwhile.lambda$main$" + i + "()";
      long own = flat(METRIC, "cum", lambda);
      long elapsed = flat(ELAPSED, "cum", lambda);
      assertTrue(elapsed >= own && elapsed <= 120_000, lambda + ": " + own + ", " + elapsed);
    }
    // main runs from the first to the last of them, and makes three threads of two lambdas itself.
    String main = "Meanwhile.main(String[])";
    assertEquals(71_000, flat(ELAPSED, "cum", main) - flat(METRIC, "cum", main));
  }

  @Test
  void bytesOfTheOtherThreadAreThoseItWasChargedWith() {
    Jvm.Result bytes = run("alloc.bytes");
    Report flat = bytes.report("--report=flat", "--metric=alloc.bytes");
    Report elapsed = bytes.report("--report=flat", "--metric=elapsed.alloc.bytes");
    String method = "Meanwhile.waitFor(Thread)";
    long others =
        elapsed.sum("elapsed.alloc.bytes.cum", method) - flat.sum("alloc.bytes.cum", method);
    // The thread's root has what the JVM allocates for it.
    assertTrue(others >= flat.sum("alloc.bytes.cum", "Meanwhile.other()"), "" + others);
    assertTrue(others < 100_000, "" + others);
  }

  @Test
  void onlyMetricsOfCallPathsAddUp() {
    Jvm.Result refused = new Jvm().agent("mode=events,metrics=elapsed.cpu.ns").run("Meanwhile");
    assertEquals(1, refused.exit());
    assertTrue(refused.err().contains("only metrics of call paths add up over threads"), refused.err());
    refused = new Jvm().agent("record=flat,metrics=elapsed.alloc.bytes").run("Meanwhile");
    assertEquals(1, refused.exit());
    assertTrue(refused.err().contains("elapsed.alloc.bytes needs record=tree"), refused.err());
  }
}
