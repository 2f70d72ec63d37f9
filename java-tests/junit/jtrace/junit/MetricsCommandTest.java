package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code jtrace metrics}: totals of a JVM's threads, without a recording. */
final class MetricsCommandTest {
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z_0-9]+)(?:\\{thread=\"((?:[^\"\\\\\\n]|\\\\[\\\\\"n])*)\",tid=\"(\\d+)\",os_tid=\"(\\d+)\"\\})?"
              + " (-?[0-9.]+)");

  /** Samples of the exposition by name, or by name and thread; each line must be a sample. */
  private static Map<String, Double> samples(String exposition) {
    Map<String, Double> samples = new TreeMap<>();
    for (String line : exposition.split("\n")) {
      if (line.startsWith("# HELP ") || line.startsWith("# TYPE ")) continue;
      Matcher match = SAMPLE.matcher(line);
      assertTrue(match.matches(), line);
      String thread = match.group(2) == null ? "" : " " + match.group(2);
      samples.merge(match.group(1) + thread, Double.valueOf(match.group(5)), Double::sum);
    }
    return samples;
  }

  /** Attached, queried, and left unchanged: no recording, no probe. */
  @Test
  void needsNoRecording() {
    try (LiveJvm jvm = new LiveJvm()) {
      Map<String, Double> first = samples(jvm.jtrace("metrics", "--format=prometheus"));
      assertTrue(first.get("jtrace_cpu_seconds_total load-0") > 0);
      assertTrue(first.get("jtrace_process_cpu_seconds_total") > 0);
      assertTrue(first.containsKey("jtrace_alloc_bytes_total main"));
      assertFalse(first.containsKey("jtrace_process_exceptions_total"), "they are not counted");
      int spent = 3_000_000;
      assertEquals(spent, jvm.askNumber("spend " + spent));
      Map<String, Double> second = samples(jvm.jtrace("metrics", "--format=prometheus"));
      double ended =
          second.get("jtrace_alloc_bytes_total (ended)")
              - first.get("jtrace_alloc_bytes_total (ended)");
      assertTrue(ended >= spent && ended < spent + 100_000, "the thread that ended: " + ended);
      double grown =
          second.get("jtrace_process_alloc_bytes_total")
              - first.get("jtrace_process_alloc_bytes_total");
      assertTrue(grown >= ended, grown + " of which " + ended);
      assertTrue(
          second.get("jtrace_cpu_seconds_total load-0")
              >= first.get("jtrace_cpu_seconds_total load-0"));
      assertTrue(jvm.jtrace("status").contains("nothing was recorded"));
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void textFitsATerminal() {
    try (LiveJvm jvm = new LiveJvm()) {
      String text = jvm.jtrace("metrics", "--columns=80");
      assertTrue(text.startsWith("process " + jvm.pid() + ": "), text);
      assertTrue(text.contains("\nalloc.bytes "), text);
      assertTrue(text.contains("\nload-1 "), text);
      text.lines().forEach(line -> assertTrue(line.codePointCount(0, line.length()) <= 80, line));
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void hostileNamesAreEscapedInEveryFormat() {
    try (LiveJvm jvm = new LiveJvm()) {
      assertEquals("named", jvm.ask("hostile"));
      Map<String, Double> samples = samples(jvm.jtrace("metrics", "--format=prometheus"));
      String label = "evil\\\"\\\\\\n} 1 \u001b[2J\0\ud83d\ude00\ufffd";
      assertTrue(samples.containsKey("jtrace_alloc_bytes_total " + label), samples.toString());
      String json = jvm.jtrace("metrics", "--format=json");
      assertTrue(
          json.contains(
              "{\"name\":\"evil\\\"\\\\\\u000a} 1 \\u001b[2J\\u0000\ud83d\ude00\ufffd\","), json);
      String text = jvm.jtrace("metrics");
      assertTrue(text.contains("\nevil\"\\\\x0a} 1 \\x1b[2J\\x00\ud83d\ude00\ufffd "), text);
      assertFalse(text.contains("\u001b"));
      assertEquals(0, jvm.end());
    }
  }

  /** Metrics that a recording counts are available as long as it runs. */
  @Test
  void metricsOfARecordingAreListedWhileItRuns() {
    try (LiveJvm jvm = new LiveJvm("-agentpath:" + Setup.AGENT + "=serve")) {
      assertFalse(jvm.jtrace("metrics").contains("\ngc.ns"));
      jvm.jtrace("start", "--probes", "out=m.bin", "metrics=monitor.wait.ns", "include=Attached::work");
      jvm.ask("gc");
      Map<String, Double> samples = samples(jvm.jtrace("metrics", "--format=prometheus"));
      assertTrue(samples.get("jtrace_process_gc_seconds_total") > 0);
      assertTrue(samples.containsKey("jtrace_process_monitor_wait_seconds_total"));
      jvm.jtrace("stop");
      assertFalse(jvm.jtrace("metrics").contains("\nmonitor.wait.ns"));
      assertTrue(Files.exists(jvm.folder.resolve("m.bin")));
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void errorsNameTheWrongOption() {
    try (LiveJvm jvm = new LiveJvm()) {
      Jvm.Result result = jvm.tryJtrace("metrics", "--format=xml");
      assertEquals(1, result.exit());
      assertEquals("jtrace: unknown format 'xml': text, json or prometheus\n", result.err());
      assertEquals(0, jvm.end());
    }
  }
}
