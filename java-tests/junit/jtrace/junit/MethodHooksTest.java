package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** hook=CLASS::METHOD: probes in Java methods, whatever the JIT makes of them (S3.24). */
final class MethodHooksTest {
  private static final Path PROGRAMS = Path.of(Setup.property("jtrace.api.programs"));
  private static final String NAME = "programs.HookedMethods";
  private static final String HOOKED = NAME + "::hooked";
  private static final int CALLS = 200_000;

  /** Only some callers are in scope: the hooks bring their methods into it. */
  private static Jvm.Result run(String options, int calls, String... flags) {
    Jvm.Result run =
        new Jvm()
            .agent(options + ",include=" + NAME + "::early;" + NAME + "::late")
            .classpathOf(PROGRAMS)
            .arguments(flags)
            .run(NAME, Integer.toString(calls), NAME + "$Two");
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  /** Calls by caller. */
  private static Map<String, Long> callers(Report hooks, String method) {
    Map<String, Long> callers = new TreeMap<>();
    for (Map<String, String> row : hooks.rows()) {
      if (!row.get("hook").startsWith(method)) continue;
      callers.merge(
          row.get("java").replaceAll("\\(.*", ""), Long.parseLong(row.get("calls")), Long::sum);
    }
    return callers;
  }

  private static void assertExact(Jvm.Result run, String how) {
    Report hooks = run.report("--report=hooks");
    assertEquals(
        Map.of(NAME + ".early", (long) CALLS, NAME + ".late", (long) CALLS),
        callers(hooks, NAME + ".hooked("),
        how);
    Map<String, Long> flips = callers(hooks, "java.util.BitSet.flip(int)");
    assertEquals(1000, flips.values().stream().mapToLong(Long::longValue).sum(), how);
  }

  @Test
  void countsAreExactInterpretedAndCompiled() {
    String hooks = "mode=events,hook=" + HOOKED + ";java.util.BitSet::flip:count";
    assertExact(run(hooks, CALLS, "-Xint"), "interpreted");
    assertExact(run(hooks, CALLS, "-XX:TieredStopAtLevel=1"), "C1");
    assertExact(run(hooks, CALLS, "-XX:-TieredCompilation"), "C2");
    // -Xbatch: calls wait for the compilers, however late they would come on a busy machine.
    Jvm.Result run = run(hooks, CALLS, "-Xbatch", "-XX:+PrintCompilation");
    assertExact(run, "all tiers");
    // What was compiled for one implementor became invalid, and was deoptimised.
    List<String> invalid =
        run.out().lines().filter(line -> line.contains("made not entrant")).toList();
    assertTrue(
        invalid.stream().anyMatch(line -> line.matches(".* 4 .*HookedMethods::(hooked|early).*")),
        invalid.toString());
  }

  @Test
  void everyCallIsUnwound() {
    int calls = 1000;
    Jvm.Result run = run("interval=10s,hook=" + HOOKED + ":unwind", calls);
    Report hooks = run.report("--report=hooks");
    assertEquals("unwind", hooks.rows().get(0).get("kind"));
    assertEquals(2 * calls, hooks.sum("calls"));
    Report tree = run.report("--report=tree", "--merge=none");
    // A ring is emptied as fast as the machine allows: a call that finds it full is a loss.
    long dropped = Losses.of(run.trace()).get("sample.ring_full").count();
    assertEquals(
        2 * calls,
        tree.sum("samples", NAME + ".hooked(HookedMethods$Step,long)") + dropped,
        run.err());
    assertTrue(dropped < calls, run.err());
  }

  @Test
  void redefinedMethodsAreCounted() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace(
          "start", "mode=events", "out=r.bin", "include=Attached::work", "hook=Attached::step");
      jvm.ask("work 1000");
      Jvm.Result redefined =
          Jvm.execute(
              List.of(
                  Setup.JDK.resolve("bin/jcmd").toString(),
                  jvm.pid(),
                  "JVMTI.agent_load",
                  Setup.property("jtrace.counting.agent"),
                  "\"redefine Attached\""),
              null);
      assertTrue(redefined.out().contains("return code: 0"), redefined.out() + jvm.errors());
      jvm.ask("work 500");
      // A probe cannot be put in without a new recording, and the answer says how.
      Jvm.Result refused = jvm.tryJtrace("hook", "Attached::mix:count");
      assertEquals(2, refused.exit());
      assertTrue(refused.err().contains("'Attached::mix' is a Java method"), refused.err());
      assertTrue(refused.err().contains("begin one with hook=Attached::mix:count"), refused.err());
      jvm.jtrace("stop");
      Report hooks = Report.of(jvm.folder.resolve("r.bin"), "--report=hooks");
      assertEquals(Map.of("Attached.work", 1500L), callers(hooks, "Attached.step("));
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void errorsNameTheRemedy() {
    Jvm.Result wrong = new Jvm().agent("hook=" + HOOKED + ":time").run("Empty");
    assertEquals(1, wrong.exit());
    assertTrue(wrong.err().contains("add clock=tsc"), wrong.err());
    wrong = new Jvm().agent("mode=samples,hook=" + HOOKED).run("Empty");
    assertTrue(wrong.err().contains("use mode=merged or events"), wrong.err());
    Jvm.Result never = new Jvm().agent("hook=com.acme.Never::called").run("Empty");
    assertEquals(0, never.exit(), never.err());
    assertTrue(
        Report.text(never.trace(), "--report=summary").contains("com.acme.Never::called"),
        never.err());
  }
}
