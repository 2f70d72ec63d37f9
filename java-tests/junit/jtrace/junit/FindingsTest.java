package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the rules of findings find in real programs, and that they find nothing in others. */
final class FindingsTest {
  /** Compilations end before the code that needs them goes on: shares do not depend on the load. */
  private static List<Map<String, String>> findings(
      Jvm jvm, String main, String program) {
    Jvm.Result run = jvm.arguments("-Xbatch").run(main, program);
    assertTrue(run.out().startsWith("done "), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run.report("--report=findings").rows();
  }

  private static String of(List<Map<String, String>> rows, String rule) {
    return rows.stream()
        .filter(row -> row.get("rule").equals(rule) && row.get("needs").isEmpty())
        .map(row -> row.get("finding"))
        .reduce("", (a, b) -> a + b + "\n");
  }

  private static void assertRecorded(List<Map<String, String>> rows, String rule) {
    assertTrue(
        rows.stream().noneMatch(row -> row.get("rule").equals(rule) && !row.get("needs").isEmpty()),
        rows::toString);
  }

  /** The finding of the program, which matches the expression, and nothing of its counterpart. */
  private static void assertFound(
      String rule, String options, String program, String counterpart, String expected) {
    assertFoundIn(findings(events(options), "Findings", program), rule, expected);
    assertNothing(findings(events(options), "Findings", counterpart), rule);
  }

  private static Jvm events(String options) {
    return new Jvm().agent("include=Findings*,mode=events," + options);
  }

  /** The same of samples: each timer finds it, and one has nothing to find in the counterpart. */
  private static void assertFoundBy(
      Timer timer, String main, String rule, String program, String counterpart, String expected) {
    assertFoundIn(findings(samples(timer), main, program), rule, expected);
    if (timer == Timer.POSIX) assertNothing(findings(samples(timer), main, counterpart), rule);
  }

  private static Jvm samples(Timer timer) {
    return new Jvm().agent(timer, "include=Findings*,interval=1ms");
  }

  private static void assertFoundIn(
      List<Map<String, String>> rows, String rule, String expected) {
    assertTrue(of(rows, rule).matches("(?s).*" + expected + ".*"), rows::toString);
  }

  private static void assertNothing(List<Map<String, String>> rows, String rule) {
    assertRecorded(rows, rule);
    assertEquals("", of(rows, rule));
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void aPatternCompiledAtEachCall(Timer timer) {
    assertFoundBy(
        timer, "Findings", "costly-setup", "patterns", "one-pattern",
        "Findings\\$Shop\\.matches\\(String\\) runs 2,000 times per"
            + " Findings\\$Shop\\.doGet\\(boolean\\); [0-9.]+ % of its time is Pattern\\.compile");
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void exceptionsByTheirTime(Timer timer) {
    assertFoundBy(
        timer, "Findings", "exceptions", "exceptions", "no-exceptions",
        "exceptions take [0-9.]+ % of the time, [0-9.]+ % of it in"
            + " Findings\\$Parser\\.parse\\(String\\)");
  }

  @Test
  void exceptionsByTheirNumber() {
    assertFound(
        "exceptions", "codes=+exception", "exceptions", "no-exceptions",
        "Findings\\$Parser\\.parse\\(String\\) throws 100,000 exceptions, 1 per call");
  }

  @Test
  void aMonitorThatTwoThreadsWant() {
    assertFound(
        "monitors", "codes=+waited", "monitor", "monitors",
        "threads wait .* in 15 waits for monitors of java\\.lang\\.Object in"
            + " Findings\\$Stock\\.take\\(Object\\)");
  }

  @Test
  void aMonitorByItsMetric() {
    assertFound(
        "monitors", "metrics=monitor.wait.ns", "monitor", "monitors",
        "threads wait .* for monitors in Findings\\$Stock\\.take\\(Object\\)");
  }

  @Test
  void numbersThatAreBoxed() {
    assertFound(
        "boxing", "boundary=on", "boxes", "numbers",
        "Findings\\$Boxes\\.add\\(List\\) boxes 2,000,000 times, 1,000 per call:"
            + " java\\.lang\\.Integer\\.valueOf\\(int\\)");
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void classesThatAreLoaded(Timer timer) {
    assertFoundBy(
        timer, "Findings", "class-loading", "classes", "few-classes",
        "class loading takes [0-9.]+ % of the time: 2,5[0-9][0-9] classes besides the JDK's");
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void aCallOfThreeClasses(Timer timer) {
    assertFoundBy(
        timer, "FindingsOfCode", "not-inlined", "three-classes", "one-class",
        "the JIT compiler does not inline FindingsOfCode\\$Circle\\.area\\(int\\) into"
            + " FindingsOfCode\\$Shapes\\.sum\\(FindingsOfCode\\$Shape\\[\\],int\\): megamorphic");
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void aMethodTooBigToInline(Timer timer) {
    assertFoundBy(
        timer, "FindingsOfCode", "not-inlined", "big-method", "small-method",
        "the JIT compiler does not inline FindingsOfCode\\$Sizes\\.big\\(int\\) into"
            + " FindingsOfCode\\$Sizes\\.sumBig\\(int\\): too big");
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void codeThatEachChangeOfACallSiteDiscards(Timer timer) {
    assertFoundBy(
        timer, "FindingsOfCode", "discarded-code", "changed-site", "same-site",
        "the JVM discarded the compiled code of FindingsOfCode\\$Sites\\.apply\\(int\\)"
            + " [0-9]+ times, mostly by deoptimisation");
  }
}
