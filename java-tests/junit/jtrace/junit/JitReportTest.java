package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Hot calls that the compiler did not inline are told from those that it did (S2.6). */
final class JitReportTest {
  private static final String RUN = "NotInlined.run(int)";
  private static final String KEPT = "NotInlined.kept(int)";
  private static final String SMALL = "NotInlined.small(int)";
  private static Jvm.Result run;

  @BeforeAll
  static void record() {
    run =
        new Jvm()
            .agent("mode=merged")
            .arguments(
                "-Xbatch",
                "-XX:-TieredCompilation",
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=dontinline,NotInlined.kept")
            .run("NotInlined");
  }

  @Test
  void anArcThatMayNotBeInlinedIsShown() {
    Map<String, String> arc = arc(RUN, KEPT);
    assertEquals("3000000", arc.get("calls"));
    assertEquals("not inlined", arc.get("status"));
    assertTrue(Long.parseLong(arc.get("compiled")) >= 1, arc.toString());
    assertTrue(Long.parseLong(arc.get("size")) > 0, arc.toString());
    String text = Report.text(run.trace(), "--report=jit");
    String hot = text.substring(0, text.indexOf("methods compiled again"));
    assertTrue(hot.contains(KEPT), text);
  }

  @Test
  void anArcThatWasInlinedIsNot() {
    assertEquals("3000000", arc(RUN, SMALL).get("calls"));
    assertEquals("inlined", arc(RUN, SMALL).get("status"));
    assertEquals("inlined", arc(KEPT, SMALL).get("status"));
  }

  private static Map<String, String> arc(String caller, String callee) {
    return run.report("--report=jit").rows().stream()
        .filter(row -> row.get("caller").equals(caller) && row.get("name").equals(callee))
        .findFirst()
        .orElseThrow();
  }
}
