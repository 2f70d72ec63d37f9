package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Labels of threads (JTrace.label): each sample has those that its thread had. */
final class LabelsTest {
  private static final Pattern METHOD = Pattern.compile("programs\\.Labelled\\.((burn|wait)\\w+)\\(");

  /** By method: the samples in it, by their labels. */
  private static Map<String, Map<String, Long>> labelsByMethod(Path trace, String... options) {
    String[] all = new String[options.length + 1];
    all[0] = "--report=samples";
    System.arraycopy(options, 0, all, 1, options.length);
    Map<String, Map<String, Long>> found = new TreeMap<>();
    for (Map<String, String> row : Report.of(trace, all).rows()) {
      Matcher method = METHOD.matcher(row.get("stack"));
      found.computeIfAbsent(method.find() ? method.group(1) : "", key -> new TreeMap<>())
          .merge(row.get("labels"), Long.parseLong(row.get("weight")), Long::sum);
    }
    return found;
  }

  private static Jvm.Result run(Timer timer, String options) {
    Jvm.Result run =
        ApiTest.jvm()
            .agent(timer, options)
            .arguments("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8")
            .run("programs.Labelled");
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  @ParameterizedTest
  @CsvSource({"PERF, mode=merged", "POSIX, mode=samples", "WALL, mode=samples"})
  void samplesHaveTheLabelsOfTheirThreads(Timer timer, String options) {
    Jvm.Result run = run(timer, options);
    Map<String, Map<String, Long>> found = labelsByMethod(run.trace());
    boolean isWall = timer == Timer.WALL;
    ApiTest.printed(run).forEach((method, labels) -> {
      if (method.startsWith("wait") && !isWall) return;
      Map<String, Long> sampled = found.get(method);
      assertTrue(sampled != null, "no samples in " + method);
      assertEquals(List.of(labels), List.copyOf(sampled.keySet()), method + sampled);
    });
    checkSums(run.trace());
    checkFilter(run.trace(), found);
  }

  /** --report=labels has the sums of the samples. */
  private static void checkSums(Path trace) {
    long whole = 0;
    Map<String, Long> expected = new TreeMap<>();
    for (Map<String, String> row : Report.of(trace, "--report=samples").rows()) {
      long weight = Long.parseLong(row.get("weight"));
      whole += weight;
      Matcher tenant = Pattern.compile("tenant=(\\w+)").matcher(row.get("labels"));
      expected.merge(tenant.find() ? tenant.group(1) : "[none]", weight, Long::sum);
    }
    Map<String, Long> reported = new TreeMap<>();
    double percent = 0;
    for (Map<String, String> row : Report.of(trace, "--report=labels").rows()) {
      if (!row.get("key").equals("tenant")) continue;
      reported.put(row.get("value"), Long.parseLong(row.get("ticks")));
      percent += Double.parseDouble(row.get("percent"));
    }
    assertEquals(expected, reported);
    assertEquals(whole, reported.values().stream().mapToLong(Long::longValue).sum());
    assertEquals(100, percent, 0.1);
  }

  private static void checkFilter(Path trace, Map<String, Map<String, Long>> found) {
    Map<String, Map<String, Long>> expected = new TreeMap<>();
    found.forEach((method, sampled) -> sampled.forEach((labels, weight) -> {
      if (!labels.contains("tenant=acme")) return;
      expected.computeIfAbsent(method, key -> new TreeMap<>()).put(labels, weight);
    }));
    assertTrue(expected.containsKey("burnQuery"), found.toString());
    assertEquals(expected, labelsByMethod(trace, "--with-label=tenant=acme"));
    assertEquals(
        expected.get("burnQuery"),
        labelsByMethod(trace, "--with-label=tenant=a*e", "--with-label=kind=query")
            .get("burnQuery"));
  }

  /** A text dump has the labels, too. */
  @Test
  void dumpsHaveTheLabels() throws IOException {
    Jvm.Result run = run(Timer.POSIX, "mode=merged");
    Path dump = Jvm.temporary("dump", ".jtxt");
    Report.text(run.trace(), "--report=dump", "-o", dump.toString());
    for (String report : List.of("labels", "samples", "tree")) {
      assertEquals(
          Report.text(run.trace(), "--report=" + report, "--format=csv"),
          Report.text(dump, "--report=" + report, "--format=csv"), report);
    }
    Path profile = Jvm.temporary("profile", ".pb.gz");
    Path same = Jvm.temporary("profile", ".pb.gz");
    Report.text(run.trace(), "--report=pprof", "-o", profile.toString());
    Report.text(dump, "--report=pprof", "-o", same.toString());
    assertArrayEquals(Files.readAllBytes(profile), Files.readAllBytes(same));
  }

  /** A label that is open while the recording goes on in the next file is defined in both. */
  @ParameterizedTest
  @CsvSource({"PERF, mode=merged", "POSIX, mode=merged", "WALL, mode=samples"})
  void everyFileOfALoopHasTheLabels(Timer timer, String options) {
    Jvm.Result run =
        ApiTest.jvm().agent(timer, "loop=1h," + options).run("programs.Labelled", "files");
    assertEquals(0, run.exit(), run.err());
    List<Path> files =
        run.out().lines().map(line -> Path.of(line.substring("file=".length()))).toList();
    assertEquals(2, files.size(), run.out());
    List<String> methods = List.of("burnFirst", "burnSecond");
    for (int i = 0; i < 2; i++) {
      Map<String, Long> sampled = labelsByMethod(files.get(i)).get(methods.get(i));
      assertTrue(sampled != null, methods.get(i));
      assertEquals(List.of("tenant=acme"), List.copyOf(sampled.keySet()));
      if (timer != Timer.WALL) continue;
      Map<String, Long> waited = labelsByMethod(files.get(i)).get("waitIdle");
      assertEquals(List.of("tenant=idle"), List.copyOf(waited.keySet()));
    }
  }

  @Test
  void withoutLabelsATraceHasNone() {
    Jvm.Result run = ApiTest.jvm().agent("mode=merged").run("programs.Orders", "100000");
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), Report.of(run.trace(), "--report=labels").rows());
    assertTrue(
        Report.text(run.trace(), "--report=dump").lines().noneMatch(it -> it.contains("\tlabels")));
    assertTrue(
        Report.text(run.trace(), "--report=labels").contains("nothing to show: no samples with"));
  }
}
