package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the kernel counts for a thread, up to the thread's last event (S5.7). */
final class EndedThreadsTest {
  private static final int WORKERS = 8;
  private static final long LAST_WRITE = 10_240_000;
  // What the JVM itself writes and reads in a thread: its log, class files.
  private static final long MOST_OF_JVM = 9_000;

  private static Map<String, Long> byThread(Jvm.Result run, String metric) {
    Map<String, Long> values = new HashMap<>();
    for (Map<String, String> row : run.report("--report=tree", "--metric=" + metric).rows()) {
      if (!row.get("level").equals("0")) continue;
      String value = row.get(metric + ".cum");
      values.merge(row.get("name").replaceAll("#.*", ""), Long.parseLong(value), Long::sum);
    }
    return values;
  }

  private static long printed(Jvm.Result run, String label) {
    Matcher matcher = Pattern.compile(label + ": (\\d+)").matcher(run.out());
    assertTrue(matcher.find(), run.out());
    return Long.parseLong(matcher.group(1));
  }

  private static long sum(Map<String, Long> values) {
    return values.values().stream().mapToLong(Long::longValue).sum();
  }

  private static void assertAbout(long expected, Long actual, String what) {
    assertTrue(
        actual != null && actual >= expected && actual <= expected + MOST_OF_JVM,
        what + ": " + expected + ", " + actual);
  }

  @Test
  void everyByteOfAThreadIsCounted() throws IOException {
    String workers = Integer.toString(WORKERS);
    for (List<String> program :
        List.of(List.of("IoEnds", workers), List.of("IoEnds", workers, "exit"))) {
      Jvm.Result run =
          new Jvm()
              .agent("mode=events,metrics=io.read.bytes;io.write.bytes")
              .run(program.toArray(String[]::new));
      assertEquals(0, run.exit(), run.err());
      Map<String, Long> written = byThread(run, "io.write.bytes");
      Map<String, Long> read = byThread(run, "io.read.bytes");
      for (int i = 0; i < WORKERS; i++) {
        assertAbout(100_000L * (i + 1), written.get("worker-" + i), "written " + written);
        assertTrue(read.get("worker-" + i) >= 100_000L * (i + 1), "read " + read);
      }
      assertAbout(LAST_WRITE, written.get("main"), "written " + written);
      // The process's total, with what its other threads wrote: the JVM's, the agent's.
      long trace = Files.size(run.trace());
      long before = printed(run, "wchar");
      assertTrue(sum(written) >= before + LAST_WRITE, written + " of " + before);
      assertTrue(sum(written) <= before + LAST_WRITE + trace + 100_000, written.toString());
      assertTrue(sum(read) >= printed(run, "rchar"), read + run.out());
    }
  }

  /** Processor time, switches and faults of the process: all of its threads' together. */
  @Test
  void totalsAreTheProcesses() {
    List<String> metrics = List.of("cpu.ns", "switches", "page.faults");
    Jvm.Result run =
        new Jvm().agent("mode=events,metrics=" + String.join(";", metrics)).run("IoEnds", "20");
    assertEquals(0, run.exit(), run.err());
    for (String metric : metrics) {
      Map<String, Long> values = byThread(run, metric);
      for (int i = 0; i < 20; i++) {
        assertTrue(values.getOrDefault("worker-" + i, 0L) > 0 || metric.equals("switches"),
            metric + values);
      }
      // The JVM's own threads, which are not the program's.
      assertTrue(values.getOrDefault("[process]", 0L) > 0, metric + values);
    }
  }
}
