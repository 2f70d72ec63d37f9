package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Samples while the JVM makes interpreter frames out of a compiled one. */
final class DeoptimisedTest {
  /** A trap of the compiled code stays one, however often it is met. */
  private static final String[] TRAPS = {
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:PerBytecodeTrapLimit=1000000",
    "-XX:PerMethodTrapLimit=1000000",
    "-XX:PerBytecodeRecompilationCutoff=1",
    "-XX:PerMethodRecompilationCutoff=1"
  };

  @ParameterizedTest
  @EnumSource(Timer.class)
  void aFrameThatIsBeingFilledIsNoMethod(Timer timer) {
    Jvm.Result run =
        new Jvm()
            .agent(timer, "mode=samples,interval=" + (timer == Timer.WALL ? "1ms" : "100us"))
            .arguments(TRAPS)
            .run("Deoptimised", "500000");
    assertEquals(0, run.exit(), run.err());
    List<String> stacks = stacksWith("[skeleton_frame]", run);
    assertTrue(stacks.size() > 5, "sampled: " + stacks);
    assertEquals(List.of(), stacksWith("[unknown_java", run));
  }

  private static List<String> stacksWith(String frame, Jvm.Result run) {
    return run.report("--report=samples").rows().stream()
        .map(row -> row.get("stack"))
        .filter(stack -> stack.contains(frame))
        .toList();
  }
}
