package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A text dump of a trace gives the same CSV reports as the trace itself. */
final class RoundTripTest {
  private static final List<String> REPORTS =
      List.of(
          "tree", "flat", "arcflow", "functions", "modules", "samples", "paths", "threads",
          "callees --of=JavaMain", "callers --of=JavaMain", "tree --merge=embed", "tree --merge=none",
          "flat --scope=app");

  @TestFactory
  Stream<DynamicNode> dumpGivesTheSameReports() {
    Stream<RealProgram> programs = Stream.of(RealProgram.h2(), RealProgram.ecj());
    if (Setup.LONG) programs = Stream.concat(programs, Stream.of(RealProgram.clojure()));
    return programs.map(RoundTripTest::container);
  }

  /** Class files, counters and the places of samples are in a dump. */
  @Test
  void dumpsHaveTheCountsOfLines() {
    Jvm.Result run =
        new Jvm().agent("mode=merged,blocks=on,include=LineCases*").run("LineCases");
    assertEquals(0, run.exit(), run.err());
    Path dump = Jvm.temporary("dump", ".jtxt");
    Report.text(run.trace(), "--report=dump", "-o", dump.toString());
    for (String report : List.of("lines", "coverage", "source --bytecode", "lcov", "jacoco")) {
      compare(run.trace(), dump, report);
    }
  }

  /** A thread's name with quotes, ends of lines, escape sequences, NUL and a lone surrogate. */
  @Test
  void namesThatAreNotTextAreKept() throws IOException {
    try (LiveJvm jvm = new LiveJvm()) {
      assertEquals("named", jvm.ask("hostile"));
      jvm.jtrace("start", "out=names.bin", "mode=merged");
      jvm.ask("work 1000");
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
      Path trace = jvm.folder.resolve("names.bin");
      Path dump = Jvm.temporary("dump", ".jtxt");
      Report.text(trace, "--report=dump", "-o", dump.toString());
      for (String report : List.of("tree", "flat", "samples", "threads")) {
        assertArrayEquals(csv(trace, report), csv(dump, report), report);
      }
      String csv = new String(csv(trace, "threads"), StandardCharsets.UTF_8);
      assertTrue(csv.contains("evil\"\"\\\n} 1 \u001b[2J\0\ud83d\ude00"), csv);
      String shown = Report.text(trace, "--report=threads", "--width=0");
      assertTrue(shown.contains("evil\"\\\\x0a} 1 \\x1b[2J\\x00\ud83d\ude00\\ud83d"), shown);
    }
  }

  /** The CSV as bytes, because a lone surrogate is not valid UTF-8. */
  private static byte[] csv(Path trace, String report) throws IOException {
    Path csv = Jvm.temporary("report", ".csv");
    Report.text(trace, "--report=" + report, "--format=csv", "-o", csv.toString());
    return Files.readAllBytes(csv);
  }

  private static DynamicNode container(RealProgram program) {
    Jvm.Result run = program.run("mode=merged");
    assertEquals(0, run.exit(), run.err());
    Path dump = Jvm.temporary("dump", ".jtxt");
    Report.text(run.trace(), "--report=dump", "-o", dump.toString());
    return DynamicContainer.dynamicContainer(
        program.name(),
        REPORTS.stream()
            .map(report -> DynamicTest.dynamicTest(report, () -> compare(run.trace(), dump, report))));
  }

  private static void compare(Path trace, Path dump, String report) {
    List<String> options = new ArrayList<>(List.of("--format=csv"));
    for (String word : ("--report=" + report).split(" ")) options.add(word);
    String[] array = options.toArray(String[]::new);
    String expected = Report.text(trace, array);
    assertTrue(expected.lines().count() >= 1);
    assertEquals(expected, Report.text(dump, array));
  }
}
