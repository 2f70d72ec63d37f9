package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;

/** The JDK's own readers get every sample of an exported recording, with its thread and stack. */
final class JfrExportTest {
  private static final Pattern SAMPLE =
      Pattern.compile("(\\d+)\t([^\t]*)\tsample(-at)?(?:\\.([a-z-]+)(?:@[^*\t]*)?)?(?:\\*(\\d+))?((?:\t.*)?)");
  private static final Map<String, String> ORIGINS =
      Map.of(
          "Interpreted", "J", "JIT compiled", "C", "Inlined", "I", "Native", "N", "C++", "V",
          "Kernel", "K", "Unknown", "");
  private static final Map<String, String> STATES =
      Map.of(
          "monitor", "STATE_BLOCKED_ON_MONITOR_ENTER",
          "object-wait", "STATE_IN_OBJECT_WAIT",
          "parked", "STATE_PARKED",
          "sleeping", "STATE_SLEEPING",
          "waiting", "STATE_WAITING",
          "blocked", "STATE_BLOCKED",
          "unknown", "STATE_UNKNOWN");

  /** A sample of the dump. */
  private record Sample(String state, long weight, List<String> frames) {}

  private static Path export(Path trace) {
    Path file = Jvm.temporary("samples", ".jfr");
    Report.text(trace, "--report=jfr", "-o", file.toString());
    return file;
  }

  /** By thread and time. */
  private static Map<String, Sample> samples(String dump, long start, long unit) {
    Map<String, Sample> samples = new TreeMap<>();
    for (String line : dump.split("\n")) {
      Matcher sample = SAMPLE.matcher(line);
      if (!sample.matches()) continue;
      List<String> frames = new ArrayList<>(List.of(sample.group(6).split("\t")));
      frames.remove(0);
      if (sample.group(3) != null) {
        int depth = Integer.parseInt(frames.get(0));
        frames.subList(0, depth + 1).clear();
      }
      String state =
          sample.group(4) == null ? "STATE_RUNNABLE" : STATES.get(sample.group(4));
      long weight = sample.group(5) == null ? 1 : Long.parseLong(sample.group(5));
      long time = start + Long.parseLong(sample.group(1)) * unit;
      samples.put(sample.group(2) + " at " + time, new Sample(state, weight, frames));
    }
    return samples;
  }

  private static long nanos(Instant time) {
    return time.getEpochSecond() * 1_000_000_000 + time.getNano();
  }

  private static boolean isSample(RecordedEvent event) {
    return event.getEventType().getName().endsWith("MethodSample")
        || event.getEventType().getName().endsWith("ExecutionSample");
  }

  /** "C:java.util.HashMap.get", "N:libc.so.6!read", root first. */
  private static List<String> frames(RecordedEvent event) {
    List<String> frames = new ArrayList<>();
    if (event.getStackTrace() == null) return frames;
    for (RecordedFrame frame : event.getStackTrace().getFrames()) {
      String origin = ORIGINS.get(frame.getType());
      String name = frame.getMethod().getName();
      String type =
          frame.getMethod().getType() == null ? "" : frame.getMethod().getType().getName();
      if ("JCI".contains(origin) && !origin.isEmpty()) {
        frames.add(0, origin + ":" + (type.isEmpty() ? "" : type + ".") + name);
      } else {
        frames.add(0, origin.isEmpty() || origin.equals("K") ? name : type + "!" + name);
      }
    }
    return frames;
  }

  /** A frame of the dump without what the export leaves out. */
  private static boolean isSame(String dumped, String exported) {
    String frame =
        dumped
            .replaceFirst("^[NVK]:", "")
            .replaceFirst("^\\[(\\w+)\\]!", "$1!") // a type is not an array's
            .replace(" [tail call]", "");
    return frame.equals(exported) || frame.startsWith(exported + "(");
  }

  private static void assertSame(Map<String, Sample> samples, Path recording) throws IOException {
    Map<String, Long> found = new HashMap<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
      if (!isSample(event)) continue;
      String thread = event.getThread("sampledThread").getOSName();
      String key = thread + " at " + nanos(event.getStartTime());
      Sample sample = samples.get(key);
      assertNotNull(sample, "no sample: " + key);
      assertEquals(sample.state(), event.getString("state"), key);
      List<String> frames = frames(event);
      assertEquals(sample.frames().size(), frames.size(), key + ": " + frames);
      for (int i = 0; i < frames.size(); i++) {
        assertTrue(
            isSame(sample.frames().get(i), frames.get(i)),
            key + ": " + sample.frames().get(i) + " is " + frames.get(i));
      }
      found.merge(key, 1L, Long::sum);
    }
    Map<String, Long> expected = new HashMap<>();
    samples.forEach((key, sample) -> expected.put(key, sample.weight()));
    assertEquals(expected, found);
  }

  @Test
  void everySampleOfADatabaseIsThere() throws IOException {
    Jvm.Result run = new Jvm().agent("mode=merged").classpath("h2.jar").run("H2W", "1");
    String dump = Report.text(run.trace(), "dump");
    Matcher start = Pattern.compile("\tunix_time_ns\t(\\d+)").matcher(dump);
    assertTrue(start.find(), "no start");
    Map<String, Sample> samples = samples(dump, Long.parseLong(start.group(1)), 1);
    assertTrue(samples.size() > 100, samples.size() + " samples");
    Path recording = export(run.trace());
    assertSame(samples, recording);
    long ticks = run.report("--report=threads").sum("ticks");
    assertEquals(ticks, samples.values().stream().mapToLong(Sample::weight).sum());
    assertToolsRead(recording, ticks);
    assertNamesAreThoseOfFlightRecorder(recording);
  }

  /** A bracket would begin an array's name, and threads of the JVM have no Java name, not an empty one. */
  private static void assertNamesAreThoseOfFlightRecorder(Path recording) throws IOException {
    boolean isJvmThreadSeen = false;
    for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
      if (!isSample(event)) continue;
      isJvmThreadSeen |= event.getThread("sampledThread").getJavaName() == null;
      if (event.getStackTrace() == null) continue;
      for (RecordedFrame frame : event.getStackTrace().getFrames()) {
        if (frame.getMethod().getType() == null) continue;
        String type = frame.getMethod().getType().getName();
        assertTrue(!type.startsWith("["), type);
      }
    }
    assertTrue(isJvmThreadSeen, "no thread without a Java name");
  }

  /** `jfr` of each JDK that is installed. */
  private static void assertToolsRead(Path recording, long ticks) throws IOException {
    List<Path> tools = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
    Path installed = Path.of("/usr/lib/jvm");
    if (Files.isDirectory(installed)) {
      try (Stream<Path> homes = Files.list(installed)) {
        homes.filter(home -> !Files.isSymbolicLink(home)).forEach(tools::add);
      }
    }
    for (Path home : tools) {
      Path tool = home.resolve("bin/jfr");
      if (!Files.isExecutable(tool)) continue;
      Jvm.Result summary =
          Jvm.execute(List.of(tool.toString(), "summary", recording.toString()), null);
      assertEquals(0, summary.exit(), tool + ": " + summary.err());
      long sum = 0;
      Matcher rows =
          Pattern.compile("jdk\\.(?:Execution|NativeMethod)Sample +(\\d+) ").matcher(summary.out());
      while (rows.find()) sum += Long.parseLong(rows.group(1));
      assertEquals(ticks, sum, tool + ": " + summary.out());
      Jvm.Result print =
          Jvm.execute(List.of(tool.toString(), "print", recording.toString()), null);
      assertEquals(0, print.exit(), tool + ": " + print.err());
      long printed = Pattern.compile("(?m)^jdk\\.\\w+Sample \\{").matcher(print.out()).results().count();
      assertEquals(ticks, printed, tool.toString());
    }
  }

  /** States, weights, paths, other units, threads that begin and end, names from anywhere. */
  @Test
  void textTracesOfAnyContentAreRead() throws IOException {
    String lines =
        "0\tmain\tthread-start\n"
            + "1\tmain\tsample\tJ:a.b.C.<init>(int,String[],long[][])\tC:Top.run()\n"
            + "2\tmain\tsample*300\tJ:a.A.m()\tN:libx.so!f(int)\tK:do_syscall_64\n"
            + "3\tw;x\tsample.parked@com.acme.Queue*3\tI:a.$x$.\u00e9\u4e2d\ud83d\ude00(int)\n"
            + "4\tmain\tsample.monitor@a.Lock*1\tV:[stubs]!call_stub\tJ:a.A.m()\tV:[stubs]!copy\n"
            + "5\tmain\tsample.sleeping*1\t[unknown frame]\n"
            + "6\tmain\tenter\tE\n"
            + "7\tmain\tsample-at\t1\tE\tJ:a.A.n()\n"
            + "8\tmain\tunwind\tJ:a.A.o()\n"
            + "9\tmain\tsample\n"
            + "10\tmain\tthread-end\n";
    Path trace = Jvm.temporary("any", ".jtxt");
    Files.writeString(
        trace, "# jtrace-text 1 unit=us\n#@\tsession\tunix_time_ns\t1700000000000000000\n" + lines);
    Path recording = export(trace);
    Map<String, Sample> samples = samples(lines, 1_700_000_000_000_000_000L, 1000);
    assertEquals(7, samples.size());
    assertSame(samples, recording);
    Map<String, Integer> events = new TreeMap<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
      events.merge(event.getEventType().getName(), 1, Integer::sum);
      if (!isSample(event) || event.getStackTrace() == null) continue;
      RecordedFrame top = event.getStackTrace().getFrames().get(0);
      if (!top.getMethod().getName().equals("run")) continue;
      RecordedFrame caller = event.getStackTrace().getFrames().get(1);
      assertEquals("(I[LString;[[J)V",
          caller.getMethod().getDescriptor());
    }
    // Java code, also below a stub and in the kernel's hands; native code below Java is native.
    assertEquals(1, events.get("jdk.ThreadStart"));
    assertEquals(1 + 3 + 1 + 1, events.get("jdk.ExecutionSample"));
    assertEquals(300 + 1 + 1, events.get("jdk.NativeMethodSample"));
    assertEquals(1, events.get("jdk.ThreadEnd"));
    assertToolsRead(recording, 308);
  }
}
