package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Why a call was not inlined (S2.6), compared with what the compiler itself says in that run. */
final class InlineReasonsTest {
  private static final Pattern DECISION =
      Pattern.compile("@ \\d+ +InlineReasons(?:\\$\\w+)?::(\\S+) \\(\\d+ bytes\\) +(.*)");

  /** Parts of HotSpot's messages. "hot method too big" is "too big", too. */
  private static final Map<String, String> REASONS =
      Map.ofEntries(
          Map.entry("too big", "too big"),
          Map.entry("already compiled into", "too big"),
          Map.entry("MinInliningThreshold", "not hot"),
          Map.entry("low call site frequency", "not hot"),
          Map.entry("call site not reached", "not hot"),
          Map.entry("virtual call", "megamorphic"),
          Map.entry("recursive inlining", "recursive"),
          Map.entry("inlining too deep", "too deep"),
          Map.entry("DesiredMethodLimit", "out of nodes"),
          Map.entry("NodeCountInliningCutoff", "out of nodes"));

  private static Jvm.Result run;
  private static final Map<String, Set<String>> ofTheJvm = new HashMap<>();

  @BeforeAll
  static void record() {
    run =
        new Jvm()
            .agent("mode=merged")
            .arguments(
                "-Xbatch",
                "-XX:-TieredCompilation",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+PrintInlining")
            .run("InlineReasons");
    assertEquals(0, run.exit(), run.err());
    for (String line : run.out().lines().toList()) {
      Matcher decision = DECISION.matcher(line);
      if (!decision.find()) continue;
      for (Map.Entry<String, String> reason : REASONS.entrySet()) {
        if (!decision.group(2).contains(reason.getKey())) continue;
        ofTheJvm.computeIfAbsent(decision.group(1), k -> new TreeSet<>()).add(reason.getValue());
      }
    }
  }

  private static String simpleName(String routine) {
    String method = routine.substring(0, routine.indexOf('('));
    return method.substring(method.lastIndexOf('.') + 1);
  }

  private static List<Map<String, String>> leftOut() {
    return run.report("--report=jit").rows().stream()
        .filter(row -> row.get("row").equals("arc"))
        .filter(row -> Set.of("not inlined", "partly").contains(row.get("status")))
        .toList();
  }

  private static Map<String, String> arc(String caller, String callee) {
    return leftOut().stream()
        .filter(row -> row.get("caller").equals("InlineReasons." + caller))
        .filter(row -> row.get("name").equals("InlineReasons" + callee))
        .findFirst()
        .orElseThrow(() -> new AssertionError(caller + " → " + callee + ": " + leftOut()));
  }

  private static void assertReason(String reason, String caller, String callee) {
    Map<String, String> arc = arc(caller, callee);
    assertEquals(reason, arc.get("reason"), arc.toString());
    assertEquals("derived", arc.get("basis"), arc.toString());
    assertFalse(arc.get("detail").isEmpty(), arc.toString());
    assertFalse(arc.get("remedy").isEmpty(), arc.toString());
    assertTrue(ofTheJvm.get(simpleName(callee)).contains(reason), ofTheJvm.toString());
  }

  @Test
  void eachReasonIsTheCompilersOwn() {
    assertTrue(leftOut().size() >= 10, leftOut().toString());
    for (Map<String, String> arc : leftOut()) {
      Set<String> reasons = ofTheJvm.get(simpleName(arc.get("name")));
      assertTrue(reasons != null && reasons.contains(arc.get("reason")), arc + ": " + ofTheJvm);
    }
  }

  @Test
  void tooBig() {
    assertReason("too big", "callsBig(int)", ".big(int)");
    String detail = arc("callsBig(int)", ".big(int)").get("detail");
    assertTrue(detail.matches("3\\d\\d bytes of bytecode, FreqInlineSize=325"), detail);
    // Too big for a call that is not in each call of its caller. JDK 17 counts otherwise.
    if (ofTheJvm.containsKey("medium")) assertReason("too big", "seldomMedium(int)", ".medium(int)");
  }

  @Test
  void notHot() {
    assertReason("not hot", "rarely(int)", ".rare(int)");
  }

  @Test
  void megamorphicWithItsClasses() {
    for (String shape : List.of("Square", "Line", "Circle")) {
      String callee = "$" + shape + ".area(int)";
      assertReason("megamorphic", "receivers(InlineReasons$Shape[],int)", callee);
      assertEquals(
          "3 classes: InlineReasons$Circle 33 %, InlineReasons$Line 33 %, InlineReasons$Square 33 %",
          arc("receivers(InlineReasons$Shape[],int)", callee).get("detail"));
    }
  }

  @Test
  void recursive() {
    assertReason("recursive", "factorial(int)", ".factorial(int)");
  }

  @Test
  void tooDeep() {
    assertReason("too deep", "deep17(int)", ".deep18(int)");
  }

  @Test
  void outOfNodes() {
    assertReason("out of nodes", "full(int)", ".last(int)");
  }

  @Test
  void textNamesTheReasonAndWhatToDo() {
    String text = Report.text(run.trace(), "--report=jit");
    assertTrue(text.contains("megamorphic (derived): 3 classes: InlineReasons$Circle 33 %"), text);
    assertTrue(text.contains("→ test for the most frequent class before the call"), text);
  }
}
