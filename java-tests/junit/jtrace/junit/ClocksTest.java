package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Times of nodes, by clocks that the test sets and by real ones. */
final class ClocksTest {
  private static final String FIG_18A_SCOPE =
      "include=Fig18A$A;Fig18A$B;Fig18A$C;Fig18A$X,clock=manual,mode=events";
  // Between the program's reading of its own clocks and the probes'.
  private static final long TOLERANCE_NS = 1_000_000;
  private static final Path GOLDEN = Setup.SOURCE.resolve("native-tests/golden");

  /** Calls, base, cum and the like as in the figures, where a microsecond is their unit. */
  @TestFactory
  Stream<DynamicTest> figure18AGivesFigures20And26And27() {
    Golden golden = new Golden("pt_pidtid", "Fig18A\\$(.)\\..*", 1_000);
    return Stream.of("tree", "log").flatMap(record -> {
      Jvm.Result run = new Jvm().agent(FIG_18A_SCOPE + ",record=" + record).run("Fig18A");
      assertEquals(0, run.exit(), run.err());
      return Stream.of("tree fig20.csv", "flat fig26.csv", "arcflow fig27.csv")
          .map(pair -> pair.split(" "))
          .map(pair -> DynamicTest.dynamicTest(record + ": " + pair[1],
              () -> golden.compare(run.report("--report=" + pair[0]), pair[1])));
    });
  }

  /** A routine's cost depends on its caller: Table II of S4.3, not Table III with the average. */
  @TestFactory
  Stream<DynamicTest> callersAreChargedTheirCallsCost() {
    Golden golden = new Golden("main-thread", "TableTwo\\$Program\\.(\\w+)\\(.*", 1_000_000);
    return Stream.of("tree", "log").map(record -> DynamicTest.dynamicTest(record, () -> {
      String options = "include=TableTwo$Program,exclude=TableTwo$Program::<init>,mode=events,record=" + record;
      Jvm.Result run = new Jvm().agent(options + ",clock=manual").run("TableTwo", "manual");
      assertEquals(0, run.exit(), run.err());
      golden.compare(run.report("--report=flat"), "table2.csv");
      checkOnTheProcessor(new Jvm().agent(options + ",clock=cpu").run("TableTwo", "processor"));
    }));
  }

  /** B 50 ms and C 40; with the average of D's calls it would be 40 and 50, each with 20 of D. */
  private static void checkOnTheProcessor(Jvm.Result run) {
    assertEquals(0, run.exit(), run.err());
    Report flat = run.report("--report=flat");
    long b = flat.sum("cum", "TableTwo$Program.b()");
    long c = flat.sum("cum", "TableTwo$Program.c()");
    assertTrue(b > c, b + " and " + c);
    // Interrupts are charged to the thread that they interrupt: the bounds distinguish 30 and 10 ms
    // from 20 and 20.
    Map<String, Long> callers = new TreeMap<>();
    for (Map<String, String> arc : run.report("--report=arcflow").rows()) {
      if (!arc.get("self").contains("Program.d(") || !arc.get("row").equals("parent")) continue;
      assertEquals("40", arc.get("calls"));
      callers.put(arc.get("name"), Long.parseLong(arc.get("cum")));
    }
    long ofB = callers.get("TableTwo$Program.b()");
    long ofC = callers.get("TableTwo$Program.c()");
    assertTrue(ofB >= 30_000_000 && ofC >= 10_000_000 && ofB > 3 * ofC / 2, callers.toString());
  }

  /** A figure's table: one thread's routines, short names, times in units of `unit` nanoseconds. */
  private record Golden(String root, String routine, long unit) {
    /** Compares sets, because the program's order of routines with equal times differs. */
    void compare(Report report, String file) throws IOException {
      List<String> golden = Files.readAllLines(GOLDEN.resolve(file));
      List<String> columns = List.of(golden.get(0).split(","));
      TreeSet<String> found = new TreeSet<>();
      for (Map<String, String> row : report.rows()) {
        if (!isOfTheFigure(row)) continue;
        found.add(columns.stream().map(c -> shown(c, row.get(c))).collect(Collectors.joining(",")));
      }
      assertEquals(new TreeSet<>(golden.subList(1, golden.size())), found);
    }

    private boolean isOfTheFigure(Map<String, String> row) {
      String name = row.getOrDefault("self", row.get("name"));
      return row.getOrDefault("thread", root).equals(root)
          && (name.equals(root) || name.matches(routine));
    }

    private String shown(String column, String value) {
      if (column.startsWith("base") || column.startsWith("cum")) {
        return value.isEmpty() ? "" : String.valueOf(Long.parseLong(value) / unit);
      }
      String name = value.replaceFirst(routine, "$1");
      return name.length() == 1 ? name.toUpperCase(Locale.ROOT) : name;
    }
  }

  /** FIG. 18C and 18D: base without the time off the processor, elapsed with it. */
  @TestFactory
  Stream<DynamicTest> baseExcludesTimeOffTheProcessor() {
    return Stream.of("tree 0", "tree 3", "log 0", "log 3").map(way -> way.split(" ")).map(way ->
        DynamicTest.dynamicTest(String.join(", off ", way), () -> checkTimeOff(way)));
  }

  private static void assertBetween(long low, long value, long high) {
    assertTrue(low - TOLERANCE_NS <= value && value <= high + TOLERANCE_NS,
        value + " is not between " + low + " and " + high);
  }

  private static void checkTimeOff(String[] way) throws IOException {
    Kernel.assumeAllows("rseq");
    Jvm.Result run = new Jvm().agent("mode=events,clock=cpu,record=" + way[0]).run("Switched", way[1]);
    assertEquals(0, run.exit(), run.err());
    String[] own = run.out().lines().filter(l -> l.startsWith("b ")).findFirst().orElseThrow().split(" ");
    Report tree = run.report("--report=tree");
    String b = "Switched.b(long)";
    String use = "Switched.use(long)";
    // b's own time is short; its callees take the rest.
    long cum = tree.sum("cum", b);
    assertBetween(Long.parseLong(own[1]), cum, Long.parseLong(own[3]));
    long elapsed = tree.sum("elapsed", b);
    assertBetween(Long.parseLong(own[2]), elapsed, Long.parseLong(own[4]));
    long slept = 10_000_000 * Long.parseLong(way[1]);
    assertTrue(elapsed - cum >= slept, "off " + (elapsed - cum));
    assertBetween(10 * 10_000_000, tree.sum("base", use), Long.parseLong(own[5]));
  }

  /** Time that a hypervisor takes unnoticed is off-processor time of the method that lost it. */
  @TestFactory
  Stream<DynamicTest> baseExcludesStolenTime() {
    return Stream.of("tree", "log").map(record -> DynamicTest.dynamicTest(record, () -> {
      Kernel.assumeAllows("rseq");
      Jvm.Result run = new Jvm().agent("mode=events,clock=cpu,record=" + record).run("Stolen");
      assertEquals(0, run.exit(), run.err());
      Report tree = run.report("--report=tree");
      for (String method : List.of("robbed(Stolen$Word,Stolen$Used)", "innocent(Stolen$Used)")) {
        String[] own = run.out().lines().filter(line -> method.startsWith(line.split(" ")[0]))
            .findFirst().orElseThrow().split(" ");
        assertBetween(Long.parseLong(own[1]), tree.sum("cum", "Stolen." + method), Long.parseLong(own[2]));
      }
    }));
  }

  /** With clock=cpu base is time on a processor. A loss reports where that is not possible. */
  @Test
  void reportsTheWaitingOfVirtualThreads() {
    assumeTrue(Setup.JDK_MAJOR >= 21);
    Kernel.assumeAllows("rseq");
    for (String clock : List.of("cpu", "tsc")) {
      Jvm.Result run = new Jvm().agent("mode=events,clock=" + clock).run("VirtualSleep");
      assertEquals(0, run.exit(), run.err());
      String summary = Report.text(run.trace(), "--report=summary", "--width=0");
      assertEquals(clock.equals("cpu"), summary.contains("virtual threads with clock=cpu"), summary);
    }
  }

  /** All calls that a killed program printed 1.5 s before its end are in the trace. */
  @TestFactory
  Stream<DynamicTest> aKilledProgramLosesLittle() {
    return Stream.of("record=tree", "record=log", "record=log,clock=tsc,interval=10ms").map(options ->
        DynamicTest.dynamicTest(options, () -> kill("mode=events," + options)));
  }

  /** The times, and the calls until then. */
  private static List<long[]> printed(Path out) {
    try {
      return Files.readAllLines(out).stream()
          .filter(line -> line.matches("\\d+ \\d+"))
          .map(line -> new long[] {Long.parseLong(line.split(" ")[0]), Long.parseLong(line.split(" ")[1])})
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static double secondsOf(List<long[]> lines) {
    return lines.isEmpty() ? 0 : (lines.get(lines.size() - 1)[0] - lines.get(0)[0]) / 1e9;
  }

  private static void kill(String options) throws IOException, InterruptedException {
    Path trace = Files.createTempFile("jtrace-killed", ".bin");
    Path out = Files.createTempFile("jtrace-killed", ".out");
    Process process = new ProcessBuilder(Setup.java(), "-agentpath:" + Setup.AGENT + "=out=" + trace
        + ",log=none," + options, "-cp", Setup.classpath(), "Counts", "20000")
        .redirectOutput(out.toFile()).start();
    // On a busy machine a JVM may take long to begin.
    LiveJvm.await(() -> secondsOf(printed(out)) >= 3);
    process.destroyForcibly().waitFor();
    List<long[]> lines = printed(out);
    long killed = lines.get(lines.size() - 1)[0];
    long due = lines.stream().filter(l -> l[0] < killed - 1_500_000_000L).mapToLong(l -> l[1]).max().orElseThrow();
    long recorded = Report.of(trace, "--report=flat").sum("calls", "Counts.count()");
    assertTrue(recorded >= due, recorded + " calls in the trace, " + due + " were due");
    Files.delete(trace);
    Files.delete(out);
  }
}
