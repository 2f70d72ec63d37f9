package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Segments of code that the program names (S3.28): exact numbers, and pairs of records. */
final class SegmentsTest {
  private static Jvm.Result run(String options, String... arguments) {
    String[] program = new String[arguments.length + 1];
    program[0] = "programs.Segments";
    System.arraycopy(arguments, 0, program, 1, arguments.length);
    Jvm.Result run = ApiTest.jvm().agent(options).run(program);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  private static Map<String, Long> expected(Jvm.Result run) {
    Map<String, Long> counts = new TreeMap<>();
    run.out().lines().filter(line -> !line.startsWith("file=")).forEach(line -> {
      int sign = line.indexOf('=');
      String name = line.substring(0, sign).replaceAll("^inner.*", "inner");
      counts.put(name, Long.parseLong(line.substring(sign + 1)));
    });
    return counts;
  }

  /** By name; adds up. */
  private static Map<String, Long> column(String column, Path trace) {
    Map<String, Long> values = new TreeMap<>();
    for (Map<String, String> row : Report.of(trace, "--report=segments").rows()) {
      String name = row.get("name").replaceAll("^inner.*", "inner");
      values.put(name, Long.parseLong(row.get(column).isEmpty() ? "0" : row.get(column)));
    }
    return values;
  }

  /** Most of "many" have no record: these are limited to 1,000 a second. */
  @ParameterizedTest
  @ValueSource(strings = {"mode=merged", "mode=events", "mode=samples", "mode=events,record=log,clock=tsc"})
  void numbersAreExact(String options) {
    Jvm.Result run = run(options, "20000");
    assertEquals(expected(run), column("count", run.trace()));
    Map<String, Long> most = column("max_ns", run.trace());
    Map<String, Long> least = column("min_ns", run.trace());
    Map<String, Long> total = column("total_ns", run.trace());
    assertTrue(most.get("outer") >= 5_000_000, most.toString());
    for (String name : total.keySet()) {
      long count = expected(run).get(name);
      assertTrue(least.get(name) <= most.get(name), name);
      assertTrue(count * least.get(name) <= total.get(name), name);
      assertTrue(total.get(name) <= count * most.get(name), name);
    }
    assertEquals(1, column("open", run.trace()).remove("never closed"));
    String summary = Report.text(run.trace(), "--report=summary", "--format=csv");
    long all = expected(run).values().stream().mapToLong(Long::longValue).sum() + 1;
    assertTrue(summary.contains("total.0x65/0x1," + all), summary);
    // Closed by another thread, and again; and one with the segment around it.
    assertTrue(summary.contains("segments.out_of_turn,3"), summary);
  }

  /** Pairs nest in each thread, and virtual threads are threads. */
  @Test
  void recordsNestInTheirThreads() {
    Jvm.Result run = run("mode=events", "1");
    Map<String, Deque<String>> open = new HashMap<>();
    Map<String, Long> pairs = new TreeMap<>();
    for (String line : Report.text(run.trace(), "--report=dump").split("\n")) {
      String[] fields = line.split("\t");
      if (fields.length < 4 || !fields[2].startsWith("segment-")) continue;
      Deque<String> own = open.computeIfAbsent(fields[1], key -> new ArrayDeque<>());
      if (fields[2].equals("segment-begin")) {
        own.push(fields[3]);
      } else {
        assertEquals(own.pop(), fields[3], line);
        assertTrue(fields[4].startsWith("value="), line);
        pairs.merge(fields[3].replaceAll("^inner.*", "inner"), 1L, Long::sum);
      }
    }
    assertEquals(List.of("never closed"), List.copyOf(open.get("main")));
    Map<String, Long> expected = expected(run);
    expected.values().removeIf(count -> count == 0);
    assertEquals(expected, pairs);
    if (Setup.JDK_MAJOR >= 21) assertTrue(open.size() > 300, open.keySet().toString());
  }

  @Test
  void aDumpHasTheSameNumbers() {
    Jvm.Result run = run("mode=merged", "20000");
    Path dump = Jvm.temporary("dump", ".jtxt");
    Report.text(run.trace(), "--report=dump", "-o", dump.toString());
    for (String report : List.of("segments", "dump")) {
      String format = report.equals("dump") ? "text" : "csv";
      assertEquals(
          Report.text(run.trace(), "--report=" + report, "--format=" + format),
          Report.text(dump, "--report=" + report, "--format=" + format), report);
    }
  }

  /** Each segment counts in the file in which it ends. */
  @Test
  void filesOfALoopAddUp() {
    Jvm.Result run = run("mode=events,loop=1h", "20000", "files");
    Map<String, Long> sum = new TreeMap<>();
    List<Path> files =
        run.out().lines()
            .filter(line -> line.startsWith("file="))
            .map(line -> Path.of(line.substring("file=".length())))
            .toList();
    assertEquals(2, files.size(), run.out());
    for (Path file : files) {
      column("count", file).forEach((name, count) -> sum.merge(name, count, Long::sum));
    }
    assertEquals(expected(run), sum);
    assertEquals(1, column("open", files.get(0)).get("across"));
  }

  @Test
  void codesLeaveThemOut() {
    Jvm.Result run = run("mode=events,codes=-segment", "10");
    assertEquals(Map.of(), column("count", run.trace()));
  }

  /** A timeline shows them as slices. */
  @Test
  void aTimelineHasThem() {
    Jvm.Result run = run("mode=events,record=log,clock=tsc,include=programs.Segments", "1");
    String timeline = Report.text(run.trace(), "--report=perfetto");
    assertTrue(timeline.contains("\"name\":\"main: segments\""), timeline);
    assertTrue(timeline.contains("\"cat\":\"segment\",\"name\":\"failing\""), timeline);
  }
}
