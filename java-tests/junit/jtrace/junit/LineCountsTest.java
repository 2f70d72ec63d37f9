package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Counts of lines (blocks=on, blocks=paths) in recordings that begin, end or change while the
 * program runs.
 */
final class LineCountsTest {
  private static final String SCOPE = "include=Attached";

  /** Line → how often it was reached, of all methods whose names begin so. */
  private static Map<Integer, Long> executions(Path trace, String prefix) {
    Map<Integer, Long> counts = new TreeMap<>();
    for (Map<String, String> row : Report.of(trace, "--report=lines").rows()) {
      if (!(row.get("class") + "." + row.get("method")).startsWith(prefix)) continue;
      counts.merge(
          Integer.parseInt(row.get("line")), Long.parseLong(row.get("executions")), Long::sum);
    }
    return counts;
  }

  /** The line of a test program that begins with the text, indented or not; only one does. */
  private static int line(String program, String text) throws IOException {
    List<String> lines =
        Files.readAllLines(Setup.SOURCE.resolve("java-tests/workloads/" + program + ".java"));
    List<Integer> found =
        IntStream.range(0, lines.size()).filter(i -> lines.get(i).contains(text)).boxed().toList();
    assertEquals(1, found.size(), text);
    return found.get(0) + 1;
  }

  /** Of a recording by call path: what its tree has of the method is what its lines have. */
  private static void expectSumOverPaths(Path trace, String blocks, String method) {
    if (!blocks.equals("blocks=paths")) return;
    long byLine =
        Report.of(trace, "--report=lines").rows().stream()
            .filter(row -> (row.get("class") + "." + row.get("method")).equals(method))
            .mapToLong(row -> Long.parseLong(row.get("instructions")))
            .sum();
    long byPath =
        Report.of(trace, "--report=tree", "--metric=bytecodes").sum("bytecodes.base", method);
    assertEquals(byLine, byPath, method);
    assertTrue(byPath > 0, method);
  }

  private static void expectSteps(Path trace, String blocks, long steps, long calls)
      throws IOException {
    assertEquals(
        Map.of(line("Attached", "return mix(x) + 1"), steps), executions(trace, "Attached.step("));
    Map<Integer, Long> work = executions(trace, "Attached.work(");
    assertEquals(calls, work.get(line("Attached", "long x = 1;")));
    assertEquals(steps + calls, work.get(line("Attached", "x = step(x)")));
    expectSumOverPaths(trace, blocks, "Attached.step(long)");
    expectSumOverPaths(trace, blocks, "Attached.work(long)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=on,record=flat", "blocks=paths"})
  void startAndStopBoundTheCounts(String blocks) throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.ask("work 100");
      jvm.jtrace("start", "mode=events", "out=1.bin", SCOPE, blocks);
      jvm.ask("work 2000");
      jvm.ask("work 3");
      jvm.jtrace("stop");
      jvm.ask("work 70");
      jvm.jtrace("start", "mode=events", "out=2.bin", SCOPE, blocks);
      jvm.ask("work 11");
      jvm.jtrace("stop");
      expectSteps(jvm.folder.resolve("1.bin"), blocks, 2003, 2);
      expectSteps(jvm.folder.resolve("2.bin"), blocks, 11, 1);
      assertEquals(0, jvm.end());
    }
  }

  /** A dump while threads are in the middle of counted methods. */
  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=paths"})
  void dumpHasTheCountsSoFar(String blocks) throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "mode=events", "out=d.bin", SCOPE, blocks);
      jvm.ask("work 500");
      jvm.jtrace("dump");
      Path early = Files.copy(jvm.folder.resolve("d.bin"), jvm.folder.resolve("early.bin"));
      jvm.ask("work 40");
      jvm.jtrace("stop");
      expectSteps(early, blocks, 500, 1);
      expectSteps(jvm.folder.resolve("d.bin"), blocks, 540, 2);
      assertEquals(0, jvm.end());
    }
  }

  /**
   * A recording that begins, is dumped and ends while a thread stands in the middle of a loop, ten
   * calls deep: the iterations so far of the call that is open are counted.
   */
  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=paths"})
  void attachAndStopInsideOfLoops(String blocks) throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.ask("dive");
      jvm.ask("halt");
      jvm.jtrace("start", "mode=events", "out=l.bin", SCOPE, blocks);
      goOn(jvm);
      jvm.jtrace("dump");
      Path early = Files.copy(jvm.folder.resolve("l.bin"), jvm.folder.resolve("early.bin"));
      goOn(jvm);
      jvm.jtrace("stop");
      jvm.ask("resume");
      jvm.ask("surface");
      expectTurns(early);
      expectTurns(jvm.folder.resolve("l.bin"));
      assertEquals(0, jvm.end());
    }
  }

  /** The code of the recording before still runs in one that counts the same calls anew. */
  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=paths"})
  void loopsThatOutliveTheirRecording(String blocks) throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace("start", "mode=events", "out=1.bin", SCOPE, blocks);
      jvm.ask("dive");
      jvm.ask("halt");
      jvm.jtrace("stop");
      jvm.jtrace("start", "mode=events", "out=2.bin", SCOPE, blocks);
      goOn(jvm);
      jvm.jtrace("stop");
      jvm.ask("resume");
      jvm.ask("surface");
      expectTurns(jvm.folder.resolve("2.bin"));
      assertEquals(0, jvm.end());
    }
  }

  private static void goOn(LiveJvm jvm) {
    jvm.ask("resume");
    jvm.ask("turn 100000");
    jvm.ask("halt");
  }

  private static void expectTurns(Path trace) throws IOException {
    long calls = Report.of(trace, "--report=flat").sum("calls", "Attached.turn()");
    assertTrue(calls > 1);
    Map<Integer, Long> turn = executions(trace, "Attached.turn()");
    assertEquals(calls, turn.get(line("Attached", "long x = turns;")), turn.toString());
    assertEquals((calls - 1) * 201 + 101, turn.get(line("Attached", "i < 200")), turn.toString());
    assertEquals((calls - 1) * 200 + 100, turn.get(line("Attached", "      x = x *")), turn.toString());
    assertEquals(calls - 1, turn.get(line("Attached", "    sum += x;")), turn.toString());
  }

  /**
   * A thread that runs on while its counts are read, one after the other, and may run for as long as
   * the reader does not: the counts are of moments that differ by a small part of the recording.
   */
  @Test
  void countsOfARunningThreadAreOfOneTime() throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.ask("dive");
      jvm.jtrace("start", "mode=events", "out=r.bin", SCOPE, "blocks=on");
      Thread.sleep(1000);
      jvm.jtrace("stop");
      jvm.ask("surface");
      Path trace = jvm.folder.resolve("r.bin");
      long calls = Report.of(trace, "--report=flat").sum("calls", "Attached.turn()");
      Map<Integer, Long> turn = executions(trace, "Attached.turn()");
      assertTrue(calls > 100);
      assertEquals(calls, turn.get(line("Attached", "long x = turns;")), 0.1 * calls);
      assertEquals(calls * 201, turn.get(line("Attached", "i < 200")), 0.1 * calls * 201);
      assertEquals(0, jvm.end());
    }
  }

  /** Each file of a recording has the counts of its own time. */
  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=paths"})
  void filesOfALoopAddUp(String blocks) throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace("start", "mode=events", "out=part-%n.bin", "loop=1s", SCOPE, blocks);
      for (int i = 0; i < 5; i++) {
        jvm.ask("work 1000");
        Thread.sleep(500);
      }
      jvm.jtrace("stop");
      long steps = 0;
      long files = 0;
      try (var parts = Files.newDirectoryStream(jvm.folder, "part-*.bin")) {
        for (Path part : parts) {
          files++;
          steps += executions(part, "Attached.step(").values().stream().mapToLong(n -> n).sum();
        }
      }
      assertTrue(files >= 2, files + " files");
      assertEquals(5000, steps);
      assertEquals(0, jvm.end());
    }
  }

  /** The lines of a redefined class are those of its first version and of its second. */
  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=paths"})
  void redefinedClassesAreCounted(String blocks) throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "mode=events", "out=r.bin", SCOPE, blocks);
      jvm.ask("work 1000");
      assertTrue(redefine(jvm).contains("return code: 0"), jvm.errors());
      jvm.ask("work 500");
      jvm.jtrace("stop");
      Path trace = jvm.folder.resolve("r.bin");
      assertEquals(1500, Report.of(trace, "--report=flat").sum("calls", "Attached.step(long)"));
      // Of step's calls 500 also execute the two instructions, of no line, that the agent put in.
      expectSteps(trace, "blocks=on", 1500, 2);
      if (blocks.equals("blocks=paths")) {
        assertEquals(
            1000 * 5 + 500 * 7,
            Report.of(trace, "--report=tree", "--metric=bytecodes")
                .sum("bytecodes.base", "Attached.step(long)"));
      }
      assertEquals(0, jvm.end());
    }
  }

  private static String redefine(LiveJvm jvm) {
    return Jvm.execute(
            List.of(
                Setup.JDK.resolve("bin/jcmd").toString(),
                jvm.pid(),
                "JVMTI.agent_load",
                Setup.property("jtrace.counting.agent"),
                "\"redefine Attached\""),
            null)
        .out();
  }

  /**
   * A sample names a place in the class file, not in the code with probes, which has other places:
   * nothing is on lines that never ran, and most on the line that takes most of the time.
   */
  @ParameterizedTest
  @CsvSource({"tree, PERF", "flat, POSIX", "tree, WALL"})
  void samplesAreOnLinesThatRan(String record, Timer timer) throws Exception {
    String options = "mode=merged,interval=1ms,blocks=on,include=HotLine,record=" + record;
    Jvm.Result run = new Jvm().agent(timer, options).run("HotLine");
    assertEquals(0, run.exit(), run.err());
    Map<Integer, Long> ticks = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=lines").rows()) {
      long here = Long.parseLong(row.get("self_ticks"));
      if (row.get("executions").equals("0")) assertEquals(0, here, row.toString());
      ticks.merge(Integer.parseInt(row.get("line")), here, Long::sum);
    }
    long all = ticks.values().stream().mapToLong(n -> n).sum();
    long hot = ticks.get(line("HotLine", "x = (x / (i | 3)"));
    assertTrue(all >= 50, ticks.toString());
    assertTrue(hot >= all / 2, ticks.toString());
    long routine = run.report("--report=flat").sum("base_ticks", "HotLine.work(int)");
    assertTrue(all <= routine + run.report("--report=flat").sum("base_ticks", "HotLine.main(String[])"));
    assertTrue(all >= routine * 9 / 10, all + " of " + routine);
  }

  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=paths"})
  void classesOfTwoLoadersAreDistinguished(String blocks) throws Exception {
    Jvm.Result run =
        new Jvm().agent("mode=events,include=Loaders$Call*," + blocks).run("Loaders");
    assertEquals(0, run.exit(), run.err());
    int call = line("Loaders", "      Callee.work();");
    List<Long> counts =
        run.report("--report=lines").rows().stream()
            .filter(row -> row.get("line").equals(Integer.toString(call)))
            .map(row -> Long.parseLong(row.get("executions")))
            .sorted()
            .toList();
    assertEquals(List.of(300L, 700L), counts);
  }

  @ParameterizedTest
  @ValueSource(strings = {"blocks=on", "blocks=on,record=flat", "blocks=paths"})
  void virtualThreadsAreCounted(String blocks) throws Exception {
    Assumptions.assumeTrue(Setup.JDK_MAJOR >= 21, "no virtual threads");
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=VirtualBatches," + blocks)
            .run("VirtualBatches", "5", "200", "10");
    assertEquals(0, run.exit(), run.err());
    assertEquals(
        1000L,
        executions(run.trace(), "VirtualBatches.task(").get(line("VirtualBatches", "Thread.yield")));
  }
}
