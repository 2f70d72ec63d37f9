package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/**
 * S1's tables 4 to 12 and FIG. 23 from the samples of a program with the figures' call structure,
 * compared with the figures' own numbers. A sample hits a stack by chance: a share may be off by
 * four of its standard deviations. A busy machine delays samples, and a late one counts several
 * ticks: they deviate more than as many samples of one tick.
 */
final class SampleFiguresTest {
  private static final double DEVIATIONS = 4;
  /** The calls between the loops also take time, which the figures do not have. */
  private static final double CALLS = 0.02;
  /** Of each of the sixteen stacks, by the clock that also drives the timer: not by real time. */
  private static final String MILLISECONDS = "250";

  private static final Pattern ROUTINE =
      Pattern.compile("(?:CallStacks|SystemPart)\\.(a1|a2|a3|s1|s2|a|b|c)\\(.*\\)");

  private static final Pattern SAMPLE =
      Pattern.compile("^[^#\t]*\tmain\tsample(?:-at)?(?:\\*(\\d+))?\t");

  private record Way(String name, Timer timer, String agentOptions, String slice, String... jvm) {}

  private static final List<Way> WAYS =
      List.of(
          new Way("interpreted", Timer.PERF, "mode=samples", "20000", "-Xint"),
          new Way("C1", Timer.POSIX, "mode=samples", "300000", "-Xcomp", "-XX:TieredStopAtLevel=1"),
          new Way("with events", Timer.PERF, "mode=merged", "20000", "-Xint"));

  /** A row of a figure: samples of the whole figure's, inclusive and exclusive. */
  private record Counts(long inclusive, long exclusive) {
    Counts plus(Counts other) {
      return new Counts(inclusive + other.inclusive, exclusive + other.exclusive);
    }
  }

  @TestFactory
  Stream<DynamicTest> samplesGiveTheFigures() {
    return WAYS.stream().map(way -> DynamicTest.dynamicTest(way.name(), () -> check(way)));
  }

  private static void check(Way way) {
    Jvm.Result run =
        new Jvm()
            .agent(way.timer(), way.agentOptions() + ",interval=4ms,include=CallStacks")
            .arguments(way.jvm())
            .run("CallStacks", way.slice(), MILLISECONDS);
    assertEquals(0, run.exit(), run.err());
    Comparison comparison = new Comparison(ticksOfASample(run));
    Map<String, Counts> paths = paths(run, "--report=paths");
    comparison.add("callstack-paths.csv", "path", paths, "A1");
    comparison.addFigure18B(paths);
    Map<String, Counts> callees = paths(run, "--report=callees", "--of=CallStacks.a2");
    comparison.add("callstack-callees-A2.csv", "path", callees, "A2");
    comparison.add("callstack-functions.csv", "name", functions(paths), null);
    if (way.agentOptions().equals("mode=merged")) { // with probes the trace has the scope
      Map<String, Counts> application = paths(run, "--report=paths", "--scope=app");
      comparison.add("callstack-app-paths.csv", "path", application, "A1");
    }
    Map<String, Counts> callers = callers(run);
    comparison.add("callstack-callers-A2.csv", "path", callers, null);
    assertAll(comparison.checks);
  }

  /** Of the sample in which a tick is, on average: 1 where no sample was late. */
  private static double ticksOfASample(Jvm.Result run) {
    double ticks = 0;
    double squares = 0;
    for (String line : Report.text(run.trace(), "--report=dump").split("\n")) {
      Matcher sample = SAMPLE.matcher(line);
      if (!sample.find()) continue;
      double weight = sample.group(1) == null ? 1 : Double.parseDouble(sample.group(1));
      ticks += weight;
      squares += weight * weight;
    }
    assertTrue(ticks > 0, "no samples");
    return squares / ticks;
  }

  /** Sums over everything above the figure's outermost routine. */
  private static Map<String, Counts> paths(Jvm.Result run, String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("--thread=main");
    Map<String, Counts> sums = new LinkedHashMap<>();
    for (Map<String, String> row : run.report(all.toArray(String[]::new)).rows()) {
      String path = figurePath(row.get("path"));
      if (path.isEmpty()) continue;
      Counts counts =
          new Counts(Long.parseLong(row.get("inclusive")), Long.parseLong(row.get("exclusive")));
      sums.merge(path, counts, Counts::plus);
    }
    return sums;
  }

  /** Only the routines of the figure, if the path ends with one. */
  private static String figurePath(String path) {
    List<String> names = new ArrayList<>();
    boolean last = false;
    for (String frame : path.split(" > ")) {
      Matcher routine = ROUTINE.matcher(frame);
      last = routine.matches();
      if (last) names.add(routine.group(1).toUpperCase(java.util.Locale.ROOT));
    }
    return last ? String.join(" > ", names) : "";
  }

  private static Map<String, Counts> callers(Jvm.Result run) {
    Map<String, Counts> sums = new LinkedHashMap<>();
    Report report = run.report("--report=callers", "--of=CallStacks.a2", "--thread=main");
    for (Map<String, String> row : report.rows()) {
      sums.merge(
          figurePath(row.get("path")),
          new Counts(Long.parseLong(row.get("inclusive")), 0),
          Counts::plus);
    }
    return sums;
  }

  /** The same counted another way: by the end of each path in the report of paths. */
  private static Map<String, Counts> functions(Map<String, Counts> paths) {
    Map<String, Counts> sums = new HashMap<>();
    paths.forEach(
        (path, counts) -> {
          String name = path.substring(path.lastIndexOf(' ') + 1);
          if (!path.startsWith("A1") || counts.exclusive() == 0) return;
          sums.merge(name, new Counts(counts.exclusive(), 0), Counts::plus);
        });
    return sums;
  }

  /** Of samples with a figure. */
  private record Comparison(double ticksOfASample, List<Executable> checks) {
    Comparison(double ticksOfASample) {
      this(ticksOfASample, new ArrayList<>());
    }

    /** `whole`: the row that is 100 %; null: the sum of all rows. */
    void add(String figure, String key, Map<String, Counts> found, String whole) {
      Map<String, Counts> expected = new LinkedHashMap<>();
      for (Map<String, String> row : golden(figure)) {
        String inclusive = row.getOrDefault("inclusive", row.get("samples"));
        String exclusive = row.getOrDefault("exclusive", "0");
        expected.put(
            row.get(key), new Counts(Long.parseLong(inclusive), Long.parseLong(exclusive)));
      }
      long all = total(found, whole);
      long ofFigure = total(expected, whole);
      checks.add(() -> assertTrue(all > 50, figure + ": only " + all + " samples"));
      expected.forEach(
          (path, counts) -> {
            Counts seen = found.getOrDefault(path, new Counts(0, 0));
            String what = figure + " " + path;
            checks.add(() -> near(what, counts.inclusive(), ofFigure, seen.inclusive(), all));
            checks.add(() -> near(what, counts.exclusive(), ofFigure, seen.exclusive(), all));
          });
    }

    void addFigure18B(Map<String, Counts> paths) {
      long all = paths.get("C").inclusive();
      List<String> names = new ArrayList<>();
      int rows = 0;
      for (Map<String, String> row : golden("fig18b.csv")) {
        int level = Integer.parseInt(row.get("level"));
        if (level == 0) continue;
        while (names.size() >= level) names.remove(names.size() - 1);
        names.add(row.get("name"));
        String path = String.join(" > ", names);
        Counts seen = paths.getOrDefault(path, new Counts(0, 0));
        long base = Long.parseLong(row.get("base_ticks"));
        long cum = Long.parseLong(row.get("cum_ticks"));
        checks.add(() -> near("FIG. 23 " + path, base, 10, seen.exclusive(), all));
        checks.add(() -> near("FIG. 23 " + path, cum, 10, seen.inclusive(), all));
        rows++;
      }
      assertEquals(7, rows);
    }

    private void near(String what, long part, long whole, long found, long of) {
      double share = (double) part / whole;
      double slack = DEVIATIONS * Math.sqrt(ticksOfASample * of * share * (1 - share)) + CALLS * of;
      double expected = share * of;
      assertTrue(
          Math.abs(found - expected) <= slack,
          what + ": " + found + " of " + of + ", expected " + expected + " +- " + slack);
    }
  }

  private static long total(Map<String, Counts> rows, String whole) {
    return whole != null
        ? rows.getOrDefault(whole, new Counts(0, 0)).inclusive()
        : rows.values().stream().mapToLong(Counts::inclusive).sum();
  }

  private static List<Map<String, String>> golden(String name) {
    Path file = Setup.SOURCE.resolve("native-tests/golden").resolve(name);
    try {
      return Report.parse(Files.readString(file));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
