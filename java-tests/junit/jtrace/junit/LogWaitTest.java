package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** overflow=wait: logs without gaps, whatever ends them. */
final class LogWaitTest {
  private static final String SCOPE = "include=Attached::step;Attached::mix;Attached::work";
  private static final String STEP = "Attached.step(long)";
  /** Their records take twenty times the room that a thread's log has. */
  private static final long CALLS = 2_500_000;

  @TestFactory
  Stream<DynamicTest> nothingIsLeftOutOfALogWhoseThreadsWait() {
    return Stream.of("none", "coarse", "tsc", "cpu")
        .map(clock -> DynamicTest.dynamicTest("clock=" + clock, () -> checkWhole(clock)));
  }

  private static void checkWhole(String clock) {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace(
          "start", "out=whole.bin", "mode=events", "record=log", "overflow=wait", SCOPE,
          "clock=" + clock);
      jvm.ask("work " + CALLS);
      jvm.jtrace("stop");
      String summary = Report.text(jvm.folder.resolve("whole.bin"), "--report=summary");
      assertFalse(summary.contains("left out") || summary.contains("had no room"), summary);
      assertTrue(summary.contains("milliseconds that threads waited"), summary);
      long steps =
          Report.of(jvm.folder.resolve("whole.bin"), "--report=flat").rows().stream()
              .filter(row -> row.get("name").equals(STEP))
              .mapToLong(row -> Long.parseLong(row.get("calls")))
              .sum();
      assertEquals(CALLS, steps);
      assertEquals(0, jvm.end());
    }
  }

  /** A recording ends in the middle of waits, and the next one begins; nobody waits in between. */
  @Test
  void recordingsEndWhileThreadsWait() throws Exception {
    try (LiveJvm jvm = new LiveJvm(3)) {
      for (String file : new String[] {"a.bin", "b.bin"}) {
        jvm.jtrace(
            "start", "out=" + file, "mode=events", "record=log", "overflow=wait",
            "include=Attached");
        jvm.ask("work 300000");
        jvm.ask("gc");
        jvm.jtrace("stop");
        long before = jvm.askNumber("load");
        LiveJvm.await(() -> jvm.askNumber("load") > before);
        String summary = Report.text(jvm.folder.resolve(file), "--report=summary");
        assertTrue(summary.contains("4 of 4 hold"), summary);
      }
      assertEquals(0, jvm.end());
    }
  }

  /** The program does not wait for a file that can no longer be written. */
  @Test
  void nobodyWaitsForAFullDisk() throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace(
          "start", "out=cut.bin", "mode=events", "record=log", "clock=tsc", "overflow=wait", SCOPE);
      jvm.limitFiles(40_000);
      assertEquals("worked", jvm.ask("work " + CALLS));
      LiveJvm.await(() -> jvm.errors().contains("recording stopped"));
      assertEquals("worked", jvm.ask("work " + CALLS));
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void overflowIsForLogs() {
    Jvm.Result run = new Jvm().agent("record=tree,overflow=wait").run("Empty");
    assertEquals(1, run.exit());
    assertTrue(run.err().contains("option 'overflow': only logs overflow"), run.err());
  }
}
