package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Frames of methods with probes stay small: a program that recurses deeply also does so under
 * jtrace. With only C1, whose frames would be the largest if probes were inlined in them, it is not
 * much less deep than the interpreter is without jtrace.
 */
final class StackDepthTest {
  private static final String C1_ALONE = "-XX:TieredStopAtLevel=1", INTERPRETED = "-Xint";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mode=merged",
        "mode=events,clock=tsc",
        "mode=events,clock=cpu,metrics=alloc.bytes",
        "mode=events,record=log",
        "mode=events,record=log,clock=cpu"
      })
  void recursionIsDeep(String options) {
    int plain = depth(new Jvm().arguments(INTERPRETED));
    int traced = depth(new Jvm().arguments(C1_ALONE).agent(options + ",include=Depth"));
    assertTrue(traced >= 3 * plain / 5, traced + " levels; interpreted, without jtrace: " + plain);
  }

  private static int depth(Jvm jvm) {
    Jvm.Result run = jvm.run("Depth");
    assertEquals(0, run.exit(), run.err());
    return Integer.parseInt(run.out().strip());
  }
}
