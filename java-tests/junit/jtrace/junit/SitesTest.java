package jtrace.junit;

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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Calls by the line that makes them (sites=on), against stacks that the program itself walks. */
final class SitesTest {
  private static final Pattern SITE = Pattern.compile("(?m)^SITE (.*) = (\\d+)$");
  private static final Pattern PARAMETERS = Pattern.compile("\\([^)]*\\)");

  private static Jvm.Result run(String options, String rounds, String... jvmArguments) {
    Jvm.Result run =
        new Jvm()
            .arguments(jvmArguments)
            .agent("sites=on,include=SiteCases*," + options)
            .run("SiteCases", rounds);
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  /** `A.f:12 > B.g` to calls, as the program walked them. */
  private static Map<String, Long> walked(Jvm.Result run) {
    Map<String, Long> calls = new TreeMap<>();
    Matcher matcher = SITE.matcher(run.out());
    while (matcher.find()) calls.put(matcher.group(1), Long.parseLong(matcher.group(2)));
    assertTrue(calls.size() > 60, calls.toString());
    return calls;
  }

  private static Map<String, Long> counted(Report sites) {
    Map<String, Long> calls = new TreeMap<>();
    for (Map<String, String> row : sites.rows()) {
      long count = Long.parseLong(row.get("calls"));
      if (row.get("site").isEmpty() || count == 0) continue;
      calls.merge(PARAMETERS.matcher(row.get("name")).replaceAll(""), count, Long::sum);
    }
    return calls;
  }

  private static Map<String, Long> byCallee(Map<String, Long> sites) {
    return sites.entrySet().stream()
        .collect(
            Collectors.toMap(
                it -> it.getKey().replaceFirst(".* > ", ""),
                Map.Entry::getValue,
                Long::sum,
                TreeMap::new));
  }

  @TestFactory
  Stream<DynamicTest> everyLineHasItsCalls() {
    return Stream.of(
            List.of("mode=events", "3000"),
            List.of("mode=events", "60", "-Xint"),
            List.of("mode=events", "600", "-XX:TieredStopAtLevel=1"),
            List.of("mode=events", "2000", "-XX:-TieredCompilation", "-XX:CompileThreshold=200"),
            List.of("mode=merged,clock=tsc,unwind=SiteCases::two", "600"),
            List.of("mode=events,metrics=alloc.bytes,codes=+0x33", "600"),
            List.of("mode=events,clock=coarse,blocks=on", "600"))
        .map(
            way ->
                DynamicTest.dynamicTest(
                    String.join(" ", way),
                    () -> {
                      String[] arguments = way.subList(2, way.size()).toArray(String[]::new);
                      Jvm.Result run = run(way.get(0), way.get(1), arguments);
                      Map<String, Long> counted = counted(run.report("--report=sites"));
                      counted.keySet().removeIf(site -> site.contains("> ["));
                      assertEquals(
                          List.of(), Expectations.differences(walked(run), counted));
                    }));
  }

  /** A sample's chain joins the nodes of its lines: there is no other node of a counted line. */
  @Test
  void samplesFindTheNodesOfTheirLines() {
    Jvm.Result run = run("mode=merged,interval=500us", "3000");
    List<String> doubled =
        run.report("--report=tree").rows().stream()
            .filter(row -> row.get("calls").equals("0") && row.get("name").contains("> SiteCases"))
            .map(row -> row.get("name"))
            .filter(name -> !name.contains("$$Lambda")) // hidden classes are never counted
            .toList();
    assertEquals(List.of(), doubled);
  }

  /** Where calls are folded, lines are not exact; calls by routine are. */
  @Test
  void foldedCallsKeepTheirRoutine() {
    Jvm.Result run = run("mode=events,maxdepth=10", "200");
    Map<String, Long> expected = byCallee(walked(run));
    Map<String, Long> flat = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=flat").rows()) {
      String name = PARAMETERS.matcher(row.get("name")).replaceAll("");
      if (expected.containsKey(name)) flat.merge(name, Long.parseLong(row.get("calls")), Long::sum);
    }
    expected.remove("SiteCases.work"); // also called by the thread's lambda
    flat.remove("SiteCases.work");
    assertEquals(List.of(), Expectations.differences(expected, flat));
  }

  @Test
  void dumpsAndReportsWithoutLinesAreTheSame() throws Exception {
    Jvm.Result run = run("mode=events", "50");
    Path dump = Jvm.temporary("sites", ".jtxt");
    Files.writeString(dump, Report.text(run.trace(), "--report=dump"));
    for (String report : List.of("tree", "arcflow", "sites", "flat", "graph")) {
      assertEquals(
          Report.of(run.trace(), "--report=" + report).rows(),
          Report.of(dump, "--report=" + report).rows());
    }
    Map<String, Long> whole = withoutSites(CallTree.of(run));
    assertEquals(whole, CallTree.of(Report.of(run.trace(), "--report=tree", "--sites=off")));
    assertTrue(whole.size() < CallTree.of(run).size());
  }

  /** `A > B` to calls, over all lines of A. */
  private static Map<String, Long> arcs(Jvm.Result run, String... options) {
    String[] all = Stream.concat(Stream.of("--report=arcflow"), Stream.of(options)).toArray(String[]::new);
    Map<String, Long> arcs = new TreeMap<>();
    for (Map<String, String> row : run.report(all).rows()) {
      if (!row.get("row").endsWith("child")) continue;
      String callee = row.get("name").replaceFirst("^.*\\)[:@]\\d+ > ", "");
      arcs.merge(row.get("self") + " > " + callee, Long.parseLong(row.get("calls")), Long::sum);
    }
    return arcs;
  }

  private static Map<String, Long> callsByRoutine(Jvm.Result run) {
    Map<String, Long> calls = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=flat").rows()) {
      if (!row.get("kind").equals("thread")) calls.put(row.get("name"), Long.parseLong(row.get("calls")));
    }
    return calls;
  }

  @TestFactory
  Stream<DynamicTest> totalsAreThoseOfARecordingWithoutLines() {
    return Stream.of("PathCases deep", "MixedCalls")
        .map(
            program ->
                DynamicTest.dynamicTest(
                    program,
                    () -> {
                      String[] words = program.split(" ");
                      String options = "mode=events,include=" + words[0] + "*,sites=";
                      Jvm.Result lines = new Jvm().agent(options + "on").run(words);
                      Jvm.Result plain = new Jvm().agent(options + "off").run(words);
                      assertTrue(lines.report("--report=sites").rows().size() > 3);
                      assertEquals(callsByRoutine(plain), callsByRoutine(lines));
                      Map<String, Long> expected = arcs(plain);
                      assertTrue(expected.size() > 3, expected.toString());
                      assertEquals(expected, arcs(lines));
                      assertEquals(expected, arcs(lines, "--sites=off"));
                    }));
  }

  /** Each line of a caller is one call of it in the callgrind file, which callgrind_annotate reads. */
  @Test
  void exportsHaveTheLineOfTheCaller() throws Exception {
    Jvm.Result run = run("mode=events", "50");
    Map<String, Long> walked = walked(run);
    Path file = Jvm.temporary("sites", ".callgrind");
    Report.text(run.trace(), "--report=callgrind", "-o", file.toString());
    Matcher arc =
        Pattern.compile("(?m)^cfn=\\((\\d+)\\).*\\ncalls=(\\d+) 0\\n(\\d+) ").matcher(Files.readString(file));
    long fromLines = 0;
    while (arc.find()) if (!arc.group(3).equals("0")) fromLines += Long.parseLong(arc.group(2));
    Map<String, Long> counted = counted(run.report("--report=sites"));
    assertEquals(counted.values().stream().mapToLong(Long::longValue).sum(), fromLines);
    String stacks = Report.text(run.trace(), "--report=collapsed", "--metric=calls");
    for (String site : walked.keySet()) {
      if (!site.startsWith("SiteCases.two:")) continue;
      String step = site.replaceFirst(":(\\d+) > (.*)", "(int):$1;$2(int) ");
      assertTrue(stacks.contains(step), step);
    }
    Jvm.Result annotated =
        Jvm.execute(
            List.of("callgrind_annotate", "--inclusive=yes", "--tree=calling", "--auto=no",
                "--threshold=100", file.toString()),
            null);
    assertEquals(0, annotated.exit(), annotated.err());
    long ofTwo = byCallee(counted).get("SiteCases.two");
    Matcher calls =
        Pattern.compile(" >   [^:]*:SiteCases\\.two\\(int\\) \\(([0-9,]+)x\\)").matcher(annotated.out());
    long annotatedCalls = 0;
    while (calls.find()) annotatedCalls += Long.parseLong(calls.group(1).replace(",", ""));
    assertEquals(ofTwo, annotatedCalls);
  }

  /** Paths of `A:5 > B` steps to paths of `B`. */
  private static Map<String, Long> withoutSites(Map<String, Long> tree) {
    Map<String, Long> merged = new TreeMap<>();
    tree.forEach(
        (path, calls) -> merged.merge(path.replaceAll("> \\S*\\):\\d+ > ", "> "), calls, Long::sum));
    return merged;
  }

  /** Pruned nodes lose their lines, no call is lost. */
  @Test
  void shortMemoryLosesNoCall() {
    Jvm.Result run =
        new Jvm().agent("mode=events,sites=on,memory=16m").run("GeneratedPaths", "1500", "120");
    assertEquals(0, run.exit(), run.err());
    long total = Long.parseLong(run.out().replaceAll("(?s).*TOTAL (\\d+).*", "$1"));
    assertEquals(total, calls(run.trace(), "tree"));
    assertEquals(total, calls(run.trace(), "sites"));
  }

  private static long calls(Path trace, String report) {
    return Report.of(trace, "--report=" + report).rows().stream()
        .filter(row -> !row.getOrDefault("origin", "").equals("thread"))
        .filter(row -> report.equals("tree") || row.get("name").contains("("))
        .mapToLong(row -> Long.parseLong(row.get("calls")))
        .sum();
  }

  private static int lineOfStep() throws IOException {
    Path source = Setup.SOURCE.resolve("java-tests/workloads/Attached.java");
    List<String> lines = Files.readAllLines(source);
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).contains("x = step(x)")) return i + 1;
    }
    throw new AssertionError(source);
  }

  /** What was probed without lines gets them at the start of a recording, and loses them again. */
  @Test
  void recordingsWithAndWithoutLinesTakeTurns() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.ask("work 100");
      for (int i = 0; i < 4; i++) {
        String out = i + ".bin";
        String sites = i % 2 == 0 ? "sites=on" : "sites=off";
        jvm.jtrace("start", "mode=events", "out=" + out, "include=Attached", sites);
        jvm.ask("work 2000");
        jvm.ask("work 5");
        jvm.jtrace("stop");
        Report flat = Report.of(jvm.folder.resolve(out), "--report=flat");
        assertEquals(2005, flat.sum("calls", "Attached.step(long)"));
        List<String> steps =
            Report.of(jvm.folder.resolve(out), "--report=tree").rows().stream()
                .map(row -> row.get("name") + " " + row.get("calls"))
                .filter(name -> name.matches("(.* > )?Attached\\.step\\(long\\) \\d+"))
                .toList();
        String line = i % 2 == 0 ? "Attached.work(long):" + lineOfStep() + " > " : "";
        assertEquals(List.of(line + "Attached.step(long) 2005"), steps);
      }
      assertEquals(0, jvm.end());
    }
  }
}
