package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Reads, writes, connects and accepts (S3.23): by file and peer, and by call path (S3.17). */
final class IoCallsTest {
  private static final int TIMES = 20;
  private static final String METRICS = "metrics=java.read.bytes;java.write.bytes;java.io.ns";

  private static Jvm.Result run() {
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=IoCalls,codes=+io," + METRICS)
            .arguments("-Xlog:jfr*=off")
            .run("IoCalls", Integer.toString(TIMES));
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  private static String printed(Jvm.Result run, String label) {
    Matcher matcher = Pattern.compile("^" + label + " (.*)$", Pattern.MULTILINE).matcher(run.out());
    assertTrue(matcher.find(), run.out());
    return matcher.group(1);
  }

  private static long value(Map<String, String> row, String column) {
    return Long.parseLong(row.get(column));
  }

  /** Flight Recorder counts the same events of the same run by itself. */
  @Test
  void flightRecorderCountsTheSame() {
    Jvm.Result run = run();
    String file = printed(run, "file");
    String server = "127.0.0.1:" + printed(run, "port");
    Map<String, String> recorder = new TreeMap<>();
    Map<String, String> jtrace = new TreeMap<>();
    for (String on : new String[] {file, server}) {
      for (String kind : new String[] {"read", "write"}) {
        recorder.put(kind + " " + on, printed(run, kind + " " + Pattern.quote(on)));
        for (Map<String, String> row : run.report("--report=io").rows()) {
          if (!row.get("kind").equals(kind) || !row.get("on").equals(on)) continue;
          // Flight Recorder leaves out calls that failed, or would have had to wait.
          long calls = value(row, "calls") - value(row, "failed");
          jtrace.put(kind + " " + on, calls + " " + row.get("bytes"));
        }
      }
    }
    assertEquals(recorder, jtrace);
    assertEquals((1001L + 61 + 999) * TIMES, bytesOf(run, "read", file));
  }

  private static long bytesOf(Jvm.Result run, String kind, String on) {
    return run.report("--report=io").rows().stream()
        .filter(row -> row.get("kind").equals(kind) && row.get("on").equals(on))
        .mapToLong(row -> value(row, "bytes"))
        .sum();
  }

  @Test
  void connectionsHaveTheirPeers() {
    Jvm.Result run = run();
    String server = "127.0.0.1:" + printed(run, "port");
    long connects = 0;
    long accepts = 0;
    for (Map<String, String> row : run.report("--report=io").rows()) {
      long done = value(row, "calls") - value(row, "failed");
      if (row.get("kind").equals("connect") && row.get("on").equals(server)) connects += done;
      if (row.get("kind").equals("accept") && row.get("on").startsWith("127.0.0.1:")) accepts += done;
      if (row.get("kind").equals("accept")) assertTrue(value(row, "longest") > 0, row.toString());
    }
    assertEquals(TIMES, connects);
    assertEquals(TIMES, accepts);
  }

  /** What each method read and wrote is known from the program's text. */
  @Test
  void bytesAreByCallPath() {
    Jvm.Result run = run();
    Report read = run.report("--report=tree", "--metric=java.read.bytes");
    Report written = run.report("--report=tree", "--metric=java.write.bytes");
    assertEquals(1001L * TIMES, read.sum("java.read.bytes.base", "IoCalls.streams(File)"));
    assertEquals(1001L * TIMES, written.sum("java.write.bytes.base", "IoCalls.streams(File)"));
    assertEquals(61L * TIMES, read.sum("java.read.bytes.base", "IoCalls.random(File)"));
    assertEquals(51L * TIMES, written.sum("java.write.bytes.base", "IoCalls.random(File)"));
    assertEquals(999L * TIMES, read.sum("java.read.bytes.base", "IoCalls.channel(Path)"));
    assertEquals(433L * TIMES, written.sum("java.write.bytes.base", "IoCalls.channel(Path)"));
    assertEquals(5000L * TIMES, read.sum("java.read.bytes.base", "IoCalls.serve(ServerSocket,int)"));
    assertEquals(5000L * TIMES, written.sum("java.write.bytes.base", "IoCalls.ask(int)"));
    Report time = run.report("--report=tree", "--metric=java.io.ns");
    assertTrue(time.sum("java.io.ns.base", "IoCalls.ask(int)") > 0);
    assertEquals(0, read.sum("java.read.bytes.base", "IoCalls.fail(File)"));
  }

  /** The natives are bound already, and the JVM must not print that they are registered again. */
  @Test
  void attachedInMidRead() throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace("start", "mode=events", "out=io.bin", "include=Attached", "codes=+io", METRICS);
      jvm.ask("load");  // the read that waited for it began before the recording
      jvm.ask("work 1");
      jvm.ask("work 20");
      jvm.jtrace("stop");
      Report io = Report.of(jvm.folder.resolve("io.bin"), "--report=io");
      Map<String, String> read =
          io.rows().stream()
              .filter(row -> row.get("kind").equals("read") && row.get("on").startsWith("pipe:"))
              .findFirst()
              .orElseThrow();
      assertEquals("2", read.get("calls"));
      assertEquals(Long.toString("work 1\nwork 20\n".length()), read.get("bytes"));
      // Without a recording, and in the next one.
      jvm.ask("work 300");
      jvm.jtrace("start", "mode=events", "out=2.bin", "include=Attached", "codes=+read");
      jvm.ask("load");
      jvm.ask("work 4");
      jvm.jtrace("stop");
      Report again = Report.of(jvm.folder.resolve("2.bin"), "--report=io");
      assertEquals(7, again.rows().stream().mapToLong(row -> value(row, "bytes")).sum());
      assertFalse(jvm.errors().contains("Re-registering"), jvm.errors());
      assertEquals(0, jvm.end());
    }
  }

  /** JNI's rules, checked by the JVM itself. */
  @Test
  void jniIsUsedAsAllowed() {
    Jvm.Result run =
        new Jvm()
            .agent("mode=events,include=IoCalls,codes=+io," + METRICS)
            .arguments("-Xcheck:jni", "-Xlog:jfr*=off")
            .run("IoCalls", "2");
    assertEquals(0, run.exit(), run.err());
    assertFalse(run.out().contains("WARNING in native method: JNI call made"), run.out());
    assertFalse(run.out().contains("Re-registering"), run.out());
  }
}
