package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Reports distinguish interpreted (0x30) and jitted (0x50) calls (S3.6), and codes= switches each
 * kind of records, by its minor too (S3.1).
 */
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

  private static Jvm.Result inFirstCompilersCode(String options) {
    return new Jvm().agent(options).arguments("-Xbatch", "-XX:TieredStopAtLevel=1").run("WarmFib");
  }

  /** C1's code does not know that it is compiled, but the JVM reports it. */
  @Test
  void callsInTheFirstCompilersCodeAreJitted() {
    String fib = "WarmFib.fib(int)";
    for (String options : List.of("mode=merged", "mode=events", "mode=events,record=flat")) {
      Report flat = inFirstCompilersCode(options).report("--report=flat");
      assertTrue(flat.sum("calls_jitted", fib) > flat.sum("calls", fib) / 2,
          options + ": " + flat.sum("calls_jitted", fib));
    }
    Jvm.Result unreported = inFirstCompilersCode("mode=events,codes=-0x51");
    assertEquals(0, unreported.report("--report=flat").sum("calls_jitted"));
    String summary = Report.text(unreported.trace(), "--report=summary");
    assertTrue(summary.contains("C1's code are counted as interpreted: codes=-0x51"), summary);
  }

  private static final String MAIN = "MixedCalls.main(String[])";
  private static final String OUTER = "MixedCalls.outer(int)";
  private static final String INNER = "MixedCalls.inner(int)";
  private static final int ROUNDS = 200_000;

  private static Jvm.Result mixed(String options) {
    return new Jvm()
        .agent(options)
        .arguments("-Xbatch", "-XX:-TieredCompilation", "-XX:CompileCommand=quiet")
        .arguments("-XX:CompileCommand=exclude,MixedCalls.inner")
        .run("MixedCalls");
  }

  /** Calls of a routine at the path main > outer > inner; -1: the tree does not have the path. */
  private static long callsAt(Report tree, String... path) {
    List<String> open = new ArrayList<>();
    for (Map<String, String> row : tree.rows()) {
      int level = Integer.parseInt(row.get("level"));
      while (open.size() > level) open.remove(open.size() - 1);
      open.add(row.get("name"));
      if (open.subList(1, open.size()).equals(List.of(path))) {
        return Long.parseLong(row.get("calls"));
      }
    }
    return -1;
  }

  /** The tree keeps its paths: those of callees of a kind that is left out, too. */
  @Test
  void callsOfOneKindAreLeftOut() {
    for (String record : List.of("record=tree", "record=log", "record=log,clock=tsc")) {
      Report tree = mixed("mode=events," + record + ",codes=-0x50").report("--report=tree");
      assertEquals(1, callsAt(tree, MAIN), record);
      assertEquals(ROUNDS, callsAt(tree, MAIN, OUTER, INNER), record);
      long interpreted = callsAt(tree, MAIN, OUTER);
      assertTrue(interpreted > 0 && interpreted < ROUNDS / 2, record + ": " + interpreted);
      assertEquals(0, tree.sum("calls_jitted"), record);

      tree = mixed("mode=events," + record + ",codes=-interpreted").report("--report=tree");
      assertEquals(0, tree.sum("calls", INNER), record);
      long jitted = callsAt(tree, MAIN, OUTER);
      assertTrue(jitted > ROUNDS / 2 && jitted < ROUNDS, record + ": " + jitted);
      assertEquals(jitted, tree.sum("calls_jitted", OUTER), record);
    }
    Report flat = mixed("mode=events,record=flat,codes=-0x50/0x10").report("--report=flat");
    assertEquals(ROUNDS, flat.sum("calls", INNER));
    assertTrue(flat.sum("calls", OUTER) < ROUNDS / 2);
  }

  @Test
  void reportsSayWhichCallsAreNotCounted() {
    Jvm.Result run = mixed("mode=events,codes=-0x50");
    String summary = Report.text(run.trace(), "--report=summary");
    assertTrue(summary.contains("compiled (0x50) are not counted: codes=-0x50"), summary);
    assertTrue(run.err().contains("calls (those of one kind not recorded)"), run.err());
  }

  private static Set<String> ops(Jvm.Result run) {
    return Report.text(run.trace(), "--report=dump")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\t")[2])
        .collect(Collectors.toSet());
  }

  @Test
  void minorsSwitchAlone() {
    Set<String> plain = ops(new Jvm().agent("").run("Events"));
    List<String> all = List.of("class-load", "jit-load", "jit-inlining", "dynamic-code");
    assertTrue(plain.containsAll(all), plain.toString());
    String off = "-0x20/0x1;-0x51/0x2;+0x61/0x2;+0x32/0x1";
    Jvm.Result run = new Jvm().agent("codes=" + off).run("Events");
    Set<String> ops = ops(run);
    assertTrue(ops.containsAll(List.of("jit-load", "dynamic-code", "monitor-wait")), ops.toString());
    for (String gone : List.of("class-load", "jit-inlining", "monitor-contended")) {
      assertTrue(!ops.contains(gone), gone);
    }
    Report flat = run.report("--report=flat");
    assertEquals(7_500, flat.sum("calls", "[thrown] Events$Failure"));
    assertEquals(0, flat.sum("calls", "[caught] Events$Failure"));
  }

  @Test
  void anEndIsNotACodeOfItsOwn() {
    Jvm.Result refused = new Jvm().agent("codes=-0x20/0x80000001").run("Events");
    assertEquals(1, refused.exit());
    assertTrue(refused.err().contains("is the end of 0x20/0x1"), refused.err());
  }

  @Test
  void interruptsHaveTheirMinor() {
    Jvm.Result run = new Jvm().agent("codes=+interrupt,interval=500us").run("Events");
    String summary = Report.text(run.trace(), "--report=summary", "--width=0");
    assertTrue(summary.contains(" interrupts (0x4/0x1)"), summary);
  }
}
