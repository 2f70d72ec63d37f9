package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Programs that compute, sleep and wait as their scripts say. All figures are between two readings
 * of independent clocks, which differ more on a busy machine: so nothing here depends on its speed.
 */
final class ScriptsTest {
  // A probe and the program read different clocks, and the probe runs before or after the reading.
  private static final long PROBE_NS = 20_000;
  // Scripted.sleep() cannot end earlier.
  private static final long SLEPT_NS = 30_000_000;

  private static void assertBetween(long low, long value, long high, String what) {
    assertTrue(
        low <= value && value <= high, what + ": " + value + " is not in " + low + ".." + high);
  }

  /** cpu.ns, wall.ns and offcpu.ns of threads, against the JDK's clocks and schedstat. */
  @Test
  void metricsOfThreadsMatchTheKernelsClocks() {
    Jvm.Result run = ApiTest.jvm().agent("mode=events,metrics=cpu.ns;wall.ns;offcpu.ns")
        .run("programs.ThreadClocks");
    Map<String, String> printed = ApiTest.printed(run);
    Map<String, String> totals = new TreeMap<>();
    int checked = 0;
    for (Map.Entry<String, String> line : printed.entrySet()) {
      String[] values = line.getValue().split(" ");
      if (line.getKey().endsWith(" totals")) {
        totals.put(line.getKey().split(" ")[0], line.getValue());
        continue;
      }
      assertBetween(Long.parseLong(values[0]), Long.parseLong(values[1]), Long.parseLong(values[2]),
          line.getKey());
      checked++;
    }
    assertTrue(checked >= 3 * (6 * 6 + 2 + 3), run.out());
    assertEquals(totals, totalsOfTheTrace(run));
  }

  private static Map<String, String> totalsOfTheTrace(Jvm.Result run) {
    Map<String, Map<String, String>> found = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=metrics").rows()) {
      if (!row.get("thread").startsWith("script-")) continue;
      found.computeIfAbsent(row.get("thread"), it -> new HashMap<>())
          .put(row.get("metric"), row.get("total"));
    }
    Map<String, String> totals = new TreeMap<>();
    found.forEach((thread, metrics) -> totals.put(thread,
        metrics.get("cpu.ns") + " " + metrics.get("wall.ns") + " " + metrics.get("offcpu.ns")));
    return totals;
  }

  /** The program's measurement of a call path: the least and the most that it can have been. */
  private record Path(long calls, long[] low, long[] high) {
    static final int CUM_CPU = 0;
    static final int CUM_WALL = 1;
    static final int BASE_CPU = 2;
    static final int BASE_WALL = 3;

    static Path of(String[] words) {
      Path path = new Path(Long.parseLong(words[1]), new long[4], new long[4]);
      for (int i = 0; i < 4; i++) {
        path.low[i] = Long.parseLong(words[2 + 2 * i]);
        path.high[i] = Long.parseLong(words[3 + 2 * i]);
      }
      return path;
    }

    void check(int which, long value, String what) {
      check(which, value, Long.MAX_VALUE, what);
    }

    void check(int which, long value, long most, String what) {
      long probes = PROBE_NS * calls;
      assertBetween(low[which] - low[which] / 100 - probes, value,
          Math.min(most, high[which] + high[which] / 100) + probes, what);
    }
  }

  /** Base, cum and elapsed of methods that compute, sleep, wait, and call each other. */
  @TestFactory
  Stream<DynamicTest> timesOfMethodsMatchTheProgramsMeasurements() {
    return Stream.of("tsc tree", "tsc log", "cpu tree", "cpu log").map(way -> way.split(" "))
        .map(way -> DynamicTest.dynamicTest(way[0] + ", " + way[1], () -> checkMethods(way)));
  }

  private static void checkMethods(String[] way) {
    boolean processor = way[0].equals("cpu");
    if (processor) Kernel.assumeAllows("rseq");
    Jvm.Result run = new Jvm()
        .agent("mode=events,include=Scripted,exclude=Scripted$Clock,clock=" + way[0] + ",record=" + way[1])
        .run("Scripted");
    assertEquals(0, run.exit(), run.err());
    Map<String, Path> paths = new TreeMap<>();
    for (String line : run.out().lines().toList()) {
      String[] words = line.split(" ");
      if (words[0].startsWith("script")) paths.put(words[0], Path.of(words));
    }
    assertEquals(12, paths.size(), run.out());
    checkTree(run.report("--report=tree"), paths, processor);
    checkFlat(run.report("--report=flat"), paths, processor);
  }

  private static void checkTree(Report tree, Map<String, Path> paths, boolean processor) {
    List<String> open = new ArrayList<>();
    int seen = 0;
    for (Map<String, String> row : tree.rows()) {
      int level = Integer.parseInt(row.get("level"));
      while (open.size() > level) open.remove(open.size() - 1);
      open.add(row.get("name").replaceFirst("Scripted\\.(\\w+)\\(.*", "$1"));
      int script = open.indexOf("script");
      if (script < 0) continue;
      String name = String.join(">", open.subList(script, open.size()));
      Path path = paths.get(name);
      assertEquals(path.calls(), Long.parseLong(row.get("calls")), name);
      check(row, path, processor, name);
      seen++;
    }
    assertEquals(paths.size(), seen, "paths of " + paths.keySet());
  }

  private static void check(Map<String, String> row, Path path, boolean processor, String name) {
    long base = Long.parseLong(row.get("base"));
    long cum = Long.parseLong(row.get("cum"));
    long elapsed = Long.parseLong(row.get("elapsed"));
    if (processor) {
      long most = Long.MAX_VALUE;
      if (name.endsWith("sleep")) most = path.high[Path.CUM_WALL] - SLEPT_NS * path.calls();
      path.check(Path.BASE_CPU, base, most, "base of " + name);
      path.check(Path.CUM_CPU, cum, most, "cum of " + name);
    } else {
      path.check(Path.BASE_WALL, base, "base of " + name);
      path.check(Path.CUM_WALL, cum, "cum of " + name);
    }
    path.check(Path.CUM_WALL, elapsed, "elapsed of " + name);
  }

  /** Cum counts outermost activations only: mixed calls itself. */
  private static void checkFlat(Report flat, Map<String, Path> paths, boolean processor) {
    for (String method : List.of("script", "compute", "sleep", "await", "park", "block", "mixed")) {
      Path sum = new Path(0, new long[4], new long[4]);
      for (Map.Entry<String, Path> path : paths.entrySet()) {
        String name = path.getKey();
        if (!name.substring(name.lastIndexOf('>') + 1).equals(method)) continue;
        boolean outermost = name.indexOf(method) == name.lastIndexOf(method);
        for (int i = 0; i < 4; i++) {
          if (i <= Path.CUM_WALL && !outermost) continue;
          sum.low[i] += path.getValue().low[i];
          sum.high[i] += path.getValue().high[i];
        }
        sum = new Path(sum.calls + path.getValue().calls, sum.low, sum.high);
      }
      Map<String, String> row = flat.rows().stream()
          .filter(it -> it.get("name").startsWith("Scripted." + method + "(")).findFirst().orElseThrow();
      assertEquals(sum.calls(), Long.parseLong(row.get("calls")), method);
      check(row, sum, processor, method);
    }
    assertFalse(flat.rows().isEmpty());
  }
}
