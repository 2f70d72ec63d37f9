package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The test on exit (S3.14): where memory is short, a path goes when its call ends, if its time is
 * below a share of its caller's. Nothing of it is lost.
 */
final class PruneExitTest {
  private static final int ROUNDS = 300;
  private static final String CALLER = "ShortCalls.caller()";
  private static final String BRIEF = "ShortCalls.brief()";
  private static final String BELOW = "ShortCalls.below()";
  private static final String ONLY_ON_EXIT =
      "mode=events,clock=manual,prune=0,memory=16m,exclude=ShortCalls::pass";

  private static Jvm.Result run(String options, int depth) {
    Jvm.Result run = new Jvm().agent(options).run("ShortCalls", Integer.toString(depth));
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  /** Calls and total time by path below caller(). */
  private static List<String> belowCaller(Jvm.Result run) {
    List<String> rows = new ArrayList<>();
    int level = -1;
    for (Map<String, String> row : run.report("--report=tree").rows()) {
      int at = Integer.parseInt(row.get("level"));
      if (level >= 0 && at <= level) break;
      if (level >= 0) {
        rows.add(at - level + " " + row.get("name") + " " + row.get("calls") + " "
            + Long.parseLong(row.get("cum")) / 1_000_000);
      }
      if (row.get("name").equals(CALLER)) level = at;
    }
    return rows.stream().sorted().toList();
  }

  private static void checkTotals(Jvm.Result run) {
    Report flat = run.report("--report=flat");
    for (String routine : List.of("longOne", "middling", "brief", "below")) {
      assertEquals(ROUNDS, flat.sum("calls", "ShortCalls." + routine + "()"), routine);
    }
    assertEquals(1 << 14, flat.sum("calls", "ShortCalls.left(int)"));
    assertEquals((1 << 14) - 1, flat.sum("calls", "ShortCalls.right(int)"));
    assertEquals(ROUNDS * 99_000L, flat.sum("cum", CALLER) / 1_000);
  }

  /** Calls of a routine at a level below caller(): 1 is its own place, 2 is below [pruned]. */
  private static long callsAt(Jvm.Result run, int level, String routine) {
    return belowCaller(run).stream()
        .filter(row -> row.startsWith(level + " ShortCalls." + routine + "() "))
        .mapToLong(row -> Long.parseLong(row.split(" ")[2]))
        .sum();
  }

  /**
   * One that takes 0.01 % of its caller's time is below 1 %, one that takes 5 % is not. Calls that
   * end while the agent looks at the tree are not tested.
   */
  @Test
  void shortOnesGoWhenTheyEnd() {
    Jvm.Result run = run(ONLY_ON_EXIT + ",pruneexit=1", 14);
    assertTrue(callsAt(run, 2, "brief") > 0, belowCaller(run).toString());
    assertEquals(ROUNDS, callsAt(run, 1, "brief") + callsAt(run, 2, "brief"));
    assertEquals(ROUNDS, callsAt(run, 1, "middling"));
    assertEquals(ROUNDS, callsAt(run, 1, "longOne"));
    checkTotals(run);
    String summary = Report.text(run.trace(), "--report=summary", "--width=0");
    assertTrue(summary.contains("call paths dropped to stay within memory="), summary);
  }

  @Test
  void theShareIsThatOfTheOption() {
    Jvm.Result run = run(ONLY_ON_EXIT + ",pruneexit=6", 14);
    assertTrue(callsAt(run, 2, "middling") > 0, belowCaller(run).toString());
    assertEquals(ROUNDS, callsAt(run, 1, "longOne"));
    checkTotals(run);
  }

  private static final List<String> WHOLE =
      List.of(
          "1 " + BRIEF + " 300 3",
          "1 ShortCalls.longOne() 300 28200",
          "1 ShortCalls.middling() 300 1497",
          "2 " + BELOW + " 300 0");

  @Test
  void withoutTheOptionTheyStay() {
    assertEquals(WHOLE, belowCaller(run(ONLY_ON_EXIT, 14)));
  }

  @Test
  void whileThereIsMemoryTheyStay() {
    assertEquals(WHOLE, belowCaller(run(ONLY_ON_EXIT + ",pruneexit=1", 8)));
  }

  /** Both ways together, with a real clock, on paths that never end. */
  @Test
  void bothWaysKeepTheTotals() {
    for (String clock : List.of("tsc", "cpu", "coarse")) {
      Jvm.Result run =
          new Jvm()
              .agent("mode=merged,memory=16m,pruneexit=5,clock=" + clock)
              .run("GeneratedPaths", "1500", "120");
      assertEquals(0, run.exit(), run.err());
      long total = Long.parseLong(run.out().replaceAll("(?s).*TOTAL (\\d+).*", "$1"));
      long calls =
          run.report("--report=tree").rows().stream()
              .filter(row -> !row.get("origin").equals("thread"))
              .mapToLong(row -> Long.parseLong(row.get("calls"))).sum();
      assertEquals(total, calls, clock);
    }
  }

  @Test
  void needsAClock() {
    Jvm.Result refused = new Jvm().agent("pruneexit=1").run("ShortCalls", "1");
    assertEquals(1, refused.exit());
    assertTrue(refused.err().contains("option 'pruneexit': compares times"), refused.err());
  }
}
