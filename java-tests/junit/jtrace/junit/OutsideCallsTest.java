package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** boundary=costs: what calls out of scope cost, by group (S4.2). */
final class OutsideCallsTest {
  private static final List<String> MODES = List.of("-Xmixed", "-Xint", "-XX:TieredStopAtLevel=1");

  /** "THREAD A > B" → a column, over the whole tree. */
  static Map<String, Long> byPath(Report tree, String column) {
    Map<String, Long> values = new HashMap<>();
    List<String> open = new ArrayList<>();
    for (Map<String, String> row : tree.rows()) {
      int level = Integer.parseInt(row.get("level"));
      while (open.size() > level) open.remove(open.size() - 1);
      open.add(row.get("name"));
      String path = open.get(0) + " " + String.join(" > ", open.subList(1, open.size()));
      values.merge(path, Long.parseLong(row.get(column)), Long::sum);
    }
    return values;
  }

  private static void assertBetween(long least, long value, long most, String what) {
    assertTrue(least <= value && value <= most, least + " <= " + value + " <= " + most + " " + what);
  }

  /** The program reads the same clock around and inside of the calls: no tolerance is needed. */
  private static void assertTimedAsTheProgramDid(Jvm.Result run) {
    assertEquals(0, run.exit(), run.err());
    Map<String, Long> nanos =
        byPath(run.report("--report=tree", "--metric=outside.ns"), "outside.ns.base");
    List<Executable> checks = new ArrayList<>();
    run.out().lines().filter(line -> line.startsWith("OWN ")).forEach(line -> {
      String[] own = line.split(" ", 4);
      checks.add(() -> assertBetween(Long.parseLong(own[1]), nanos.getOrDefault(own[3], -1L),
          Long.parseLong(own[2]), own[3]));
    });
    assertEquals(8, checks.size(), run.out());
    assertAll(checks);
  }

  @TestFactory
  Stream<DynamicTest> indeterminateCallsAreTimed() {
    return MODES.stream().map(mode -> DynamicTest.dynamicTest(mode, () -> assertTimedAsTheProgramDid(
        new Jvm().agent("mode=events,boundary=costs").arguments(mode).run("TimedCalls"))));
  }

  @Test
  void besideOtherMetricsAndATick() {
    assertTimedAsTheProgramDid(
        new Jvm().agent("mode=events,boundary=costs,clock=coarse,metrics=alloc.bytes;exceptions")
            .run("TimedCalls"));
  }

  /** Callbacks from a timed call are counted where they belong, whatever the probes keep in mind. */
  @Test
  void callsAreThoseWithoutTimes() {
    Map<String, Long> timed = calls("boundary=costs");
    timed.keySet().removeIf(OutsideCallsTest::dependsOnTime);
    Map<String, Long> counted = calls("boundary=on");
    counted.keySet().removeIf(OutsideCallsTest::dependsOnTime);
    assertEquals(counted, timed);
  }

  private static boolean dependsOnTime(String path) {
    return path.contains("Slow.work(long)") || path.contains("Late.getDelay(");
  }

  private static Map<String, Long> calls(String options) {
    Jvm.Result run = new Jvm().agent("mode=events," + options).run("TimedCalls");
    Map<String, Long> calls = byPath(run.report("--report=tree"), "calls");
    calls.keySet().removeIf(path -> !path.startsWith("main ") && !path.startsWith("waiter"));
    return calls;
  }

  private static Map<String, String> summary(Jvm.Result run) {
    Map<String, String> facts = new HashMap<>();
    for (Map<String, String> row : run.report("--report=summary").rows()) {
      facts.put(row.get("key"), row.get("value"));
    }
    return facts;
  }

  @TestFactory
  Stream<DynamicTest> elementsAndCyclesAreExact() {
    return MODES.stream().map(mode -> DynamicTest.dynamicTest(mode, () -> {
      Jvm.Result run =
          new Jvm().agent("mode=events,boundary=costs").arguments(mode).run("OutsideElements");
      assertEquals(0, run.exit(), run.err());
      Report elements = run.report("--report=flat", "--metric=outside.elements");
      Report cycles = run.report("--report=flat", "--metric=outside.cycles");
      String copy = "java.lang.System.arraycopy(Object,int,Object,int,int)";
      String append = "java.lang.StringBuilder.append(String)";
      String appendNumber = "java.lang.StringBuilder.append(int)";
      String hash = "java.util.Arrays.hashCode(int[])";
      String max = "java.lang.Math.max(int,int)";
      assertAll(
          () -> assertEquals(4950, elements.sum("outside.elements.base", copy)),
          () -> assertEquals(28, elements.sum("outside.elements.base", append)),
          () -> assertEquals(0, elements.sum("outside.elements.base", appendNumber)),
          () -> assertEquals(30, elements.sum("outside.elements.base", hash)),
          () -> assertEquals(100 * 20 + 4950 / 4, cycles.sum("outside.cycles.base", copy)),
          () -> assertEquals(7 * 30 + 14, cycles.sum("outside.cycles.base", append)),
          () -> assertEquals(5 * 30, cycles.sum("outside.cycles.base", appendNumber)),
          () -> assertEquals(4 * 20 + 30, cycles.sum("outside.cycles.base", hash)),
          () -> assertEquals(9 * 10, cycles.sum("outside.cycles.base", max)),
          () -> assertEquals("92", summary(run).get("outside.fixed.cycles")),
          () -> assertEquals(Set.of(), Losses.of(run.trace()).named("metrics.")));
    }));
  }

  /** The probe asks Strings for their length. */
  @Test
  void elementsAreNotCountedWithStringInScope() {
    Jvm.Result run = new Jvm().agent("mode=events,boundary=costs,include=OutsideElements;java.lang.String")
        .run("OutsideElements");
    assertEquals(0, run.exit(), run.err());
    assertEquals(Set.of("metrics.outside.elements"), Losses.of(run.trace()).named("metrics."));
  }

  private static Map<String, Long> cycles(Jvm.Result run, String metric, String... more) {
    String[] arguments = Stream.concat(Stream.of("--report=flat", "--metric=" + metric),
        Stream.of(more)).toArray(String[]::new);
    Map<String, Long> cycles = new HashMap<>();
    for (Map<String, String> row : run.report(arguments).rows()) {
      cycles.merge(row.get("name"), Long.parseLong(row.get(metric + ".base")), Long::sum);
    }
    cycles.values().removeIf(value -> value == 0);
    return cycles;
  }

  /** Cycles of the program's own code (S4.1) and those of calls out of scope, in one recording. */
  @ParameterizedTest
  @ValueSource(strings = {"on", "paths"})
  void besideTheCyclesOfTheProgramsOwnCode(String blocks) {
    Jvm.Result own = new Jvm().agent("mode=events,blocks=" + blocks).run("OutsideElements");
    Jvm.Result outside = new Jvm().agent("mode=events,boundary=costs").run("OutsideElements");
    Jvm.Result both =
        new Jvm().agent("mode=events,boundary=costs,blocks=" + blocks).run("OutsideElements");
    Map<String, Long> ofCode = cycles(both, "cycles");
    Map<String, Long> ofCalls = cycles(both, "outside.cycles");
    assertEquals(cycles(own, "cycles"), ofCode);
    assertEquals(cycles(outside, "outside.cycles"), ofCalls);
    String main = "OutsideElements.main(String[])";
    assertTrue(ofCode.get(main) > 0, "its own");
    assertTrue(!ofCalls.containsKey(main), "those that it calls have theirs");
    Map<String, Long> ofCallers = cycles(both, "outside.cycles", "--outside=caller");
    assertEquals(ofCode.keySet(), ofCallers.keySet(), "only methods in scope");
    assertEquals(sum(ofCalls), sum(ofCallers), "nothing is lost");
  }

  private static long sum(Map<String, Long> values) {
    return values.values().stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void callsCanBeOnlyCounted() {
    Jvm.Result run = new Jvm().agent("mode=events,boundary=on").run("OutsideElements");
    Map<String, String> facts = summary(run);
    assertEquals("10", facts.get("outside.fixed.calls"));
    assertEquals(null, facts.get("metric.outside.ns"));
    assertEquals(null, facts.get("metric.outside.elements"));
  }

  /** The caller's self time, or a function of its own: the same sums. */
  @Test
  void timeCanBelongToTheCaller() {
    Jvm.Result run = new Jvm().agent("mode=events,boundary=costs,clock=tsc").run("TimedCalls");
    Report own = run.report("--report=flat");
    Report caller = run.report("--report=flat", "--outside=caller");
    String sleep = "java.util.concurrent.TimeUnit.sleep(long)";
    String sleeps = "TimedCalls.sleeps()";
    assertEquals(0, caller.sum("calls", sleep));
    assertEquals(own.sum("base"), caller.sum("base"));
    assertEquals(own.sum("cum", sleeps), caller.sum("base", sleeps));
    assertEquals(60, own.sum("calls", sleep) - 1);
    assertEquals(3 * (20 + 40), own.sum("outside_calls", sleeps));
    assertEquals(own.sum("cum", sleeps) - own.sum("base", sleeps), own.sum("outside_time", sleeps));
  }
}
