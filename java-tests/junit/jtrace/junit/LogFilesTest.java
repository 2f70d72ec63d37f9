package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Logs of one recording after the other, and of one file after the other. */
final class LogFilesTest {
  private static final String STEP = "Attached.step(long)";
  private static final String SCOPE = "include=Attached::step;Attached::mix;Attached::work";

  /** A spent budget ends the logs of one recording: the next one has logs again. */
  @Test
  void aSpentBudgetEndsOneRecordingOnly() {
    try (LiveJvm jvm = new LiveJvm()) {
      for (String clock : List.of("none", "tsc")) {
        jvm.jtrace(
            "start", "out=a.bin", "mode=events", "record=log", "logbudget=1k", SCOPE,
            "clock=" + clock);
        jvm.ask("work 1000");
        jvm.jtrace("dump");
        jvm.jtrace("dump");
        jvm.ask("work 100000");
        jvm.jtrace("stop");
        assertEquals(101_000, steps(jvm, "a.bin"));
        long logged = logged(jvm, "a.bin");
        assertTrue(logged >= 1000 && logged < 101_000, "logged: " + logged);

        jvm.jtrace("start", "out=b.bin", "mode=events", "record=log", SCOPE, "clock=" + clock);
        jvm.ask("work 1234");
        jvm.jtrace("stop");
        assertEquals(1234, steps(jvm, "b.bin"));
        assertTrue(logged(jvm, "b.bin") > 0);
      }
      assertEquals(0, jvm.end());
    }
  }

  private static final int FILES = 4;

  /**
   * Two threads are deep in calls while files change, one running, one waiting: each file by itself
   * has the right paths, and together they have all calls.
   */
  @TestFactory
  Stream<DynamicTest> filesOfALoopHaveTheRightPaths() {
    return Stream.of("none", "coarse", "tsc", "cpu")
        .map(
            clock ->
                DynamicTest.dynamicTest("clock=" + clock, () -> checkPathsOfFiles(clock)));
  }

  private static void checkPathsOfFiles(String clock) {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace(
          "start", "out=%n.bin", "loop=1h", "mode=events", "record=log", "clock=" + clock,
          "include=Attached", "exclude=Attached::main;Attached::obey");
      assertEquals("sinking", jvm.ask("sink 3"));
      assertEquals("diving", jvm.ask("dive"));
      for (int file = 1; file < FILES; file++) {
        jvm.ask("work 100");
        jvm.jtrace("dump");
      }
      jvm.ask("work 100");
      long turns = jvm.askNumber("surface");
      jvm.jtrace("stop");
      assertEquals(turns, callsInFiles(jvm));
      assertEquals("risen", jvm.ask("rise"));
      assertEquals(0, jvm.end());
    }
  }

  /** The calls of the diver below; checks their paths. */
  private static long callsInFiles(LiveJvm jvm) {
    String sunk = "main: " + "Attached.sink(BufferedReader,int) > ".repeat(3);
    String turn =
        "diver: Attached.stayDown() > " + "Attached.dive(int) > ".repeat(10) + "Attached.turn()";
    long turns = 0;
    for (int file = 1; file <= FILES; file++) {
      Path trace = jvm.folder.resolve(file + ".bin");
      Map<String, Long> tree = CallTree.of(Report.of(trace, "--report=tree"));
      for (String path : tree.keySet()) {
        assertTrue(!path.contains("turn") || path.equals(turn), file + ".bin has " + path);
        assertTrue(
            !path.contains("dive") || turn.startsWith(path), file + ".bin has " + path);
      }
      turns += tree.getOrDefault(turn, 0L);
      String answer = "Attached.answer(String[]) > Attached.work(long) > Attached.step(long)";
      assertEquals(100, tree.get(sunk + answer), file + ".bin: " + tree.keySet());
    }
    return turns;
  }

  private static long steps(LiveJvm jvm, String trace) {
    return Report.of(jvm.folder.resolve(trace), "--report=flat").sum("calls", STEP);
  }

  /** The calls that have a record. */
  private static long logged(LiveJvm jvm, String trace) {
    return Report.text(jvm.folder.resolve(trace), "--report=dump").lines()
        .filter(line -> line.contains("\tenter.") && line.endsWith("\t" + STEP))
        .count();
  }
}
