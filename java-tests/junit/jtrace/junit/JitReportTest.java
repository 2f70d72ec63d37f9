package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The report distinguishes hot calls that the compiler inlined from others (S2.6). */
final class JitReportTest {
  private static final String RUN = "NotInlined.run(int)";
  private static final String KEPT = "NotInlined.kept(int)";
  private static final String SMALL = "NotInlined.small(int)";
  private static Jvm.Result run;
  private static Jvm.Result callBack;

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
    callBack = new Jvm().agent("mode=merged").arguments("-Xbatch").run("CallBack");
  }

  @Test
  void showsAnArcThatMayNotBeInlined() {
    Map<String, String> arc = arc(RUN, KEPT);
    assertEquals("3000000", arc.get("calls"));
    assertEquals("not inlined", arc.get("status"));
    assertTrue(Long.parseLong(arc.get("compiled")) >= 1, arc.toString());
    assertTrue(Long.parseLong(arc.get("size")) > 0, arc.toString());
    String text = Report.text(run.trace(), "--report=jit");
    String hot = text.substring(0, text.indexOf("methods whose code was discarded"));
    assertTrue(hot.contains(KEPT), text);
  }

  @Test
  void doesNotShowAnInlinedArc() {
    assertEquals("3000000", arc(RUN, SMALL).get("calls"));
    assertEquals("inlined", arc(RUN, SMALL).get("status"));
    assertEquals("inlined", arc(KEPT, SMALL).get("status"));
  }

  /** The JDK's method and the lambda in between are not counted: the tree has no nodes for them. */
  @Test
  void aCallBackThroughTheJdkIsInlinedToo() {
    Map<String, String> arc = arc(callBack, "CallBack.run(int)", "CallBack.supply()");
    assertEquals("3000000", arc.get("calls"));
    assertEquals("inlined", arc.get("status"));
    assertNotEquals("0", arc.get("bodies"), arc.toString());
    assertEquals(arc.get("bodies"), arc.get("inlined_bodies"), arc.toString());
    String text = Report.text(callBack.trace(), "--report=jit");
    assertFalse(text.contains("CallBack.supply()"), text);
  }

  @Test
  void codeHasItsCompileLevel() {
    Map<String, String> kept = method(run, KEPT);
    assertEquals("C2", kept.get("tier"));
    assertEquals("0", kept.get("c1"));
    Jvm.Result c1 =
        new Jvm().agent("mode=merged").arguments("-XX:TieredStopAtLevel=1").run("NotInlined");
    kept = method(c1, KEPT);
    assertEquals("C1 (tier 1)", kept.get("tier"));
    assertEquals("0", kept.get("c2"));
  }

  /** The loop has 60,000 rounds long before its 200th call. */
  @Test
  void showsTiersAndLoops() {
    Map<String, String> hot = method(callBack, "CallBack.run(int)");
    assertEquals("C2", hot.get("tier"), hot.toString());
    for (String column : List.of("c1", "c2", "osr")) {
      assertTrue(Long.parseLong(hot.get(column)) >= 1, column + " of " + hot);
    }
  }

  private static Map<String, String> method(Jvm.Result of, String name) {
    return arc(of, "", name);
  }

  private static Map<String, String> arc(String caller, String callee) {
    return arc(run, caller, callee);
  }

  private static Map<String, String> arc(Jvm.Result of, String caller, String callee) {
    return of.report("--report=jit").rows().stream()
        .filter(row -> row.get("caller").equals(caller) && row.get("name").equals(callee))
        .findFirst()
        .orElseThrow();
  }
}
