package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytecodes by call path (blocks=paths), against numbers that follow from the program's code. */
final class PathCostsTest {
  private static final String LOOP = "PathCases.loop(int)";
  private static final String DOWN = "PathCases.down(int)";

  private static Jvm.Result record(String options, String... arguments) {
    Jvm.Result run = new Jvm().agent("mode=events," + options).run(arguments);
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  /** Bytecodes of a path's own code, by "thread/method/method", without parameters. */
  private static Map<String, Long> byPath(Path trace) {
    Map<String, Long> paths = new HashMap<>();
    Map<Integer, String> at = new HashMap<>();
    for (Map<String, String> row :
        Report.of(trace, "--report=tree", "--metric=bytecodes").rows()) {
      int level = Integer.parseInt(row.get("level"));
      String name = row.get("name").replace("PathCases.", "").replaceAll("\\(.*", "");
      at.put(level, level == 0 ? name : at.get(level - 1) + "/" + name);
      paths.merge(at.get(level), Long.parseLong(row.get("bytecodes.base")), Long::sum);
    }
    return paths;
  }

  private static long loop(long n) {
    return 9 + 9 * n;
  }

  private static void expectMain(Map<String, Long> paths) {
    String main = "main/main";
    assertEquals(10 * loop(3), paths.get(main + "/few/loop"));
    assertEquals(7 * loop(1000), paths.get(main + "/many/loop"));
    String down = main;
    for (int n = 4; n > 0; n--) {
      down += "/down";
      assertEquals(10, paths.get(down), down);
      assertEquals(loop(n), paths.get(down + "/loop"), down);
    }
    assertEquals(4, paths.get(down + "/down"));
    // Three calls of each end as usual; three of at and one of risky throw in mid-block.
    assertEquals(3 * 4 + 3 * 3, paths.get(main + "/caught/at"));
    assertEquals(2 * 16 + 10, paths.get(main + "/caught/risky"));
    assertEquals(16, paths.get("main/<clinit>"));
  }

  /** No exception, no recursion and no path changes what the lines together have. */
  private static void expectSameAsLines(Path trace) {
    assertEquals(
        Report.of(trace, "--report=lines").sum("instructions"),
        Report.of(trace, "--report=tree", "--metric=bytecodes").sum("bytecodes.base"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ",clock=coarse", ",metrics=alloc.bytes", ",clock=tsc,metrics=alloc.bytes",
        ",boundary=on"})
  void eachPathHasItsOwn(String options) {
    Path trace = record("blocks=paths,include=PathCases" + options, "PathCases").trace();
    expectMain(byPath(trace));
    expectSameAsLines(trace);
  }

  /** Calls below maxdepth= are folded, and their bytecodes with them. */
  @Test
  void deepRecursionIsFolded() {
    Path trace = record("blocks=paths,include=PathCases,maxdepth=10", "PathCases", "deep").trace();
    Report tree = Report.of(trace, "--report=tree", "--metric=bytecodes");
    // Down from 4 and from 300: 10 for each call of either, and 4 for the last one.
    assertEquals(10 * (4 + 300) + 2 * 4, tree.sum("bytecodes.base", DOWN));
    assertTrue(tree.rows().stream().allMatch(row -> Integer.parseInt(row.get("level")) <= 13));
    expectSameAsLines(trace);
  }

  @Test
  void eachThreadHasItsOwn() {
    Path trace = record("blocks=paths,include=PathCases", "PathCases", "threads").trace();
    Map<String, Long> paths = byPath(trace);
    expectMain(paths);
    for (int k = 1; k <= 8; k++) {
      String worker = "worker-" + k + "/lambda$runThreads$0/worker";
      assertEquals(1000 * loop(k), paths.get(worker + "/loop"));
      assertEquals(11 + 10 * 1000, paths.get(worker));
    }
    expectSameAsLines(trace);
  }

  @Test
  void virtualThreadsAreOneGroup() {
    Assumptions.assumeTrue(Setup.JDK_MAJOR >= 21, "no virtual threads");
    Path trace = record("blocks=paths,include=PathCases", "PathCases", "virtual").trace();
    Map<String, Long> paths = byPath(trace);
    String worker = "[virtual threads]/lambda$runThreads$0/worker";
    assertEquals(1000 * (8 * 9 + 9 * 36), paths.get(worker + "/loop"));
    assertEquals(8 * (11 + 10 * 1000), paths.get(worker));
    expectSameAsLines(trace);
  }

  /** Activations that are open at the end belong to their paths. */
  @Test
  void theEndInTheMiddleOfALoop() {
    Path trace = record("blocks=paths,include=PathCases", "PathCases", "exit").trace();
    Map<String, Long> paths = byPath(trace);
    expectMain(paths);
    // Six rounds, the last of them up to the call of System.exit.
    assertEquals(4 + 6 * 3 + 5 * (4 + 3 + 2) + 4 + 3 + 2, paths.get("main/main/last"));
    assertEquals(null, paths.get("[no path]"));
    expectSameAsLines(trace);
  }

  /** With little memory paths are lost, and no bytecode. */
  @Test
  void littleMemoryLosesPathsOnly() {
    String[] program = {"GeneratedPaths", "2500", "120"};
    Path all = record("blocks=on,record=flat", program).trace();
    Path little = record("blocks=paths,memory=16m", program).trace();
    assertTrue(Report.text(little, "--report=summary").contains("[pruned]"));
    assertEquals(instructionsByMethod(all), instructionsByMethod(little));
    expectSameAsLines(little);
  }

  private static Map<String, Long> instructionsByMethod(Path trace) {
    Map<String, Long> sums = new HashMap<>();
    for (Map<String, String> row : Report.of(trace, "--report=lines").rows()) {
      sums.merge(
          row.get("class") + row.get("method"), Long.parseLong(row.get("instructions")), Long::sum);
    }
    return sums;
  }

  @Test
  void dumpsHaveTheSamePaths() throws Exception {
    Path trace = record("blocks=paths,include=PathCases", "PathCases", "exit").trace();
    Path dump = Jvm.temporary("dump", ".jtxt");
    Files.writeString(dump, Report.text(trace, "--report=dump"));
    for (String metric : new String[] {"bytecodes", "cycles"}) {
      for (String report : new String[] {"tree", "flat", "arcflow", "metrics", "graph", "classes"}) {
        String[] options = {"--format=csv", "--report=" + report, "--metric=" + metric};
        assertEquals(Report.text(trace, options), Report.text(dump, options), report);
      }
    }
    assertTrue(Report.text(trace, "--report=collapsed", "--metric=bytecodes")
        .contains("main;PathCases.main(String[]);PathCases.many();" + LOOP + " 63063\n"));
    assertTrue(Report.text(trace, "--report=callers", "--of=" + LOOP, "--metric=bytecodes")
        .contains(DOWN));
  }
}
