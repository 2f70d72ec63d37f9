package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Reports distinguish interpreted (0x30) and jitted (0x50) calls (S3.6). */
final class CodesTest {
  @Test
  void interpreterGivesOnlyInterpretedCalls() {
    Jvm.Result run = new Jvm().agent("mode=events").arguments("-Xint").run("cases.Recursion");
    Report flat = run.report("--report=flat");
    assertTrue(flat.sum("calls") > 80_000);
    assertEquals(0, flat.sum("calls_jitted"));
  }

  @Test
  void warmRecursionGivesOnlyJittedCalls() {
    Jvm.Result run =
        new Jvm()
            .agent("mode=events")
            .arguments("-Xbatch", "-XX:-TieredCompilation")
            .run("WarmFib");
    Report flat = run.report("--report=flat", "--thread=warm");
    String fib = "WarmFib.fib(int)";
    assertEquals(1_028_457, flat.sum("calls", fib), run.out());
    assertEquals(1_028_457, flat.sum("calls_jitted", fib));
  }
}
