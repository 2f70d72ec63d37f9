package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads with alternate stacks, as Go's are: the agent's handlers run there, and take no more room
 * than there is (agent/signal_safe/signal_scope.h).
 */
final class AlternateStackTest {
  private static final Path API = Path.of(Setup.property("jtrace.api"));
  private static final Path PROGRAMS = Path.of(Setup.property("jtrace.api.programs"));
  private static final String NATIVES = Setup.property("jtrace.hooked");
  // More than a walk takes, with a load that fails in it.
  private static final int TO_WALK = 8000;
  private static final int LARGE = 131_072;
  // The kernel's part of a handler takes 1 to 3.4 KB by the processor's registers: the rest has room
  // for the interrupted pc, but not for a walk.
  private static final int SMALL = 6144;

  private static Jvm.Result run(String options, int bytes) {
    String[] arguments =
        Setup.JDK_MAJOR < 22
            ? new String[0]
            : new String[] {"--enable-native-access=ALL-UNNAMED"};
    Jvm.Result run =
        new Jvm()
            .agent(options)
            .classpathOf(API, PROGRAMS)
            .arguments(arguments)
            .run("programs.AlternateStacks", NATIVES, Integer.toString(bytes));
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  private static final String UNWIND = "hook=libhooked_natives.so!Java_programs_Hooked_add:unwind";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mode=samples,timer=cpu",
        "mode=samples,timer=perf:cpu-clock",
        "mode=samples,timer=wall,stack=appframe",
        "mode=merged,timer=cpu,stack=app," + UNWIND,
        "mode=merged,timer=cpu,metrics=path.page.faults"
      })
  void largeOnesHaveRoomForWalks(String options) {
    Jvm.Result run = run(options, LARGE);
    long used = Long.parseLong(run.out().strip().split(" ")[1]);
    assertTrue(used > 0, "the handlers were elsewhere");
    assertTrue(used <= TO_WALK, used + " bytes used");
    String losses = Report.text(run.trace(), "--report=summary");
    assertFalse(losses.contains("no_stack_room"), losses);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mode=samples,timer=cpu", "mode=merged,metrics=path.page.faults," + UNWIND})
  void smallOnesHaveRoomForThePc(String options) {
    Jvm.Result run = run(options, SMALL);
    String losses = Report.text(run.trace(), "--report=summary");
    assertTrue(losses.contains("no_stack_room"), losses);
  }
}
