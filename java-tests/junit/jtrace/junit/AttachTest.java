package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Recordings of a JVM that runs already: begun, looked at and ended by {@code jtrace}. */
final class AttachTest {
  private static final String STEP = "Attached.step(long)";
  private static final String TICK = "Attached.tick()";
  // A thread that is between its own count and the probe when it is looked at.
  private static final int LOAD_THREADS = 2;

  /** The program's own counts around one recording. */
  private static void checkWindow(LiveJvm jvm, String trace, int calls, String... options) {
    String[] all = new String[options.length + 1];
    all[0] = "out=" + trace;
    System.arraycopy(options, 0, all, 1, options.length);
    long before = jvm.askNumber("load");
    jvm.jtrace("start", all);
    long begun = jvm.askNumber("load");
    assertEquals("worked", jvm.ask("work " + calls));
    long ending = jvm.askNumber("load");
    jvm.jtrace("stop");
    long after = jvm.askNumber("load");
    Report flat = Report.of(jvm.folder.resolve(trace), "--report=flat");
    assertEquals(calls, flat.sum("calls", STEP));
    assertEquals(calls, flat.sum("calls", "Attached.mix(long)"));
    assertEquals(1, flat.sum("calls", "Attached.work(long)"));
    long ticks = flat.sum("calls", TICK);
    assertTrue(ticks >= ending - begun - LOAD_THREADS, ticks + " of " + (ending - begun));
    assertTrue(ticks <= after - before + LOAD_THREADS, ticks + " of " + (after - before));
  }

  @Test
  void countsOfEveryWindowAreExact() {
    try (LiveJvm jvm = new LiveJvm()) {
      for (int i = 0; i < 12; i++) checkWindow(jvm, i % 3 + ".bin", 1000 + i);
      assertEquals(0, jvm.end());
      assertEquals(24, jvm.errors().lines().filter(line -> line.startsWith("jtrace: ")).count());
    }
  }

  /**
   * What attaching again and again costs in memory: the JVM itself keeps some of it, in code and
   * classes that it makes anew each time.
   */
  @Test
  void memoryDoesNotGrowWithTheRounds() throws Exception {
    try (LiveJvm jvm = new LiveJvm("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch")) {
      long after10 = 0;
      for (int round = 1; round <= 50; round++) {
        checkWindow(jvm, "round.bin", 1000 + round);
        if (round == 10) after10 = jvm.residentKilobytes();
      }
      long grown = jvm.residentKilobytes() - after10;
      // 3.5 to 4.9 MB where this was measured, half of it the JVM's own; a leak is well above.
      assertTrue(grown <= 8_000, grown + " kB from round 10 to round 50");
      checkNoProbes(jvm);
      assertEquals(0, jvm.end());
    }
  }

  /** A recording with nothing in scope: it would count what probes of earlier ones still see. */
  private static void checkNoProbes(LiveJvm jvm, String... options) {
    String[] all = new String[options.length + 2];
    all[0] = "out=nothing.bin";
    all[1] = "include=no.such.Class";
    System.arraycopy(options, 0, all, 2, options.length);
    jvm.jtrace("start", all);
    jvm.ask("work 1000");
    jvm.jtrace("stop");
    Report flat = Report.of(jvm.folder.resolve("nothing.bin"), "--report=flat");
    assertEquals(0, flat.sum("calls", STEP));
    assertEquals(0, flat.sum("calls", TICK));
  }

  /** Each kind of probes twice in turn, so that the second finds what the first left. */
  @Test
  void everyKindOfRecordingCanBeRepeated() {
    List<List<String>> kinds =
        List.of(
            List.of("record=log"),
            List.of("clock=tsc"),
            List.of("clock=coarse"),
            List.of("clock=cpu"),
            List.of("record=flat"),
            List.of("record=log", "clock=tsc", "mode=events"));
    try (LiveJvm jvm = new LiveJvm()) {
      for (int round = 0; round < 2; round++) {
        for (List<String> kind : kinds) {
          checkWindow(jvm, "kind.bin", 1000 + round, kind.toArray(String[]::new));
          jvm.jtrace("resume");
          assertEquals("worked", jvm.ask("work 321"));
          String stopped = jvm.jtrace("stop");
          String file = stopped.substring("wrote ".length(), stopped.indexOf(": "));
          Report flat = Report.of(jvm.folder.resolve(file), "--report=flat");
          assertEquals(321, flat.sum("calls", STEP), kind.toString());
        }
      }
      for (List<String> kind : kinds) checkNoProbes(jvm, kind.toArray(String[]::new));
      assertEquals(0, jvm.end());
    }
  }

  /** What one mode does not want must not reach the next one's recording. */
  @Test
  void samplesMayFollowEvents() {
    try (LiveJvm jvm = new LiveJvm()) {
      for (int round = 0; round < 2; round++) {
        jvm.jtrace("start", "mode=events", "include=Attached::work", "out=events.bin");
        assertEquals("threads ended", jvm.ask("threads 30"));
        jvm.jtrace("stop");
        assertEquals(30, events(jvm, "calls"));
        assertEquals(0, events(jvm, "samples"));
        jvm.jtrace("start", "mode=samples", "out=samples.bin");
        assertEquals("threads ended", jvm.ask("threads 10"));
        jvm.jtrace("stop");
      }
      assertEquals(0, jvm.end());
    }
  }

  private static long events(LiveJvm jvm, String column) {
    Report flat = Report.of(jvm.folder.resolve("events.bin"), "--report=flat");
    return flat.sum(column, "Attached.work(long)");
  }

  @Test
  void optionsMayDifferFromWindowToWindow() {
    try (LiveJvm jvm = new LiveJvm()) {
      checkWindow(jvm, "tree.bin", 1000);
      checkWindow(jvm, "flat.bin", 2000, "record=flat");
      checkWindow(jvm, "events.bin", 3000, "mode=events");
      checkWindow(jvm, "flat.bin", 4000, "record=flat", "interval=100us");
      checkWindow(jvm, "tree.bin", 5000, "include=Attached");
      assertEquals(0, jvm.end());
    }
  }

  /** Under -Xint, C1 and the JVM's own checks. */
  @Test
  void everyKindOfCodeCanBeAttachedTo() {
    for (String argument : List.of("-Xint", "-XX:TieredStopAtLevel=1", "-Xcheck:jni")) {
      try (LiveJvm jvm = new LiveJvm(argument)) {
        checkWindow(jvm, "a.bin", 1234);
        checkWindow(jvm, "b.bin", 4321);
        assertEquals(0, jvm.end());
      }
    }
  }

  /** Threads have their names, and methods that began before the attach are named in samples. */
  @Test
  void whatRanBeforeTheAttachIsNamed() {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.ask("work 100000");
      for (String trace : List.of("first.bin", "second.bin")) {
        jvm.jtrace("start", "out=" + trace);
        jvm.ask("time 100000000");
        jvm.jtrace("stop");
        Path file = jvm.folder.resolve(trace);
        List<Map<String, String>> stacks = Report.of(file, "--report=samples").rows();
        assertFalse(stacks.isEmpty());
        assertTrue(
            stacks.stream().anyMatch(row -> row.get("stack").contains("Attached.main(String[])")));
        assertTrue(stacks.stream().anyMatch(row -> row.get("stack").contains("Attached.load()")));
        assertEquals(
            List.of(),
            stacks.stream().filter(row -> row.get("stack").contains("unknown_java")).toList());
        assertTrue(stacks.stream().anyMatch(row -> row.get("thread").equals("load-1")));
      }
    }
  }

  /** What is kept of compiled frames has no ids of methods where nothing asked for them. */
  @Test
  void stacksOfTheApplicationAreWholeAfterARecordingWithoutIds() {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.ask("work 10000000"); // compiled
      for (String options : List.of("codes=-0x51", "stack=app")) {
        jvm.jtrace("start", "out=ids.bin", "mode=samples", options);
        jvm.ask("time 300000000");
        jvm.jtrace("stop");
      }
      long whole = 0;
      long all = 0;
      Path trace = jvm.folder.resolve("ids.bin");
      for (Map<String, String> row :
          Report.of(trace, "--report=samples", "--thread=load-*").rows()) {
        long weight = Long.parseLong(row.get("weight"));
        all += weight;
        if (row.get("stack").contains("Attached.load()")) whole += weight;
      }
      assertTrue(all > 20 && whole > 0.9 * all, whole + " of " + all + " have their loop");
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void reportOfARunningJvmGrows() {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "mode=events", "include=Attached::step;Attached::work");
      for (int i = 1; i <= 3; i++) {
        jvm.ask("work 500");
        String csv = jvm.jtrace("report", "--report=flat", "--format=csv");
        String line = csv.lines().filter(row -> row.contains(STEP)).findFirst().orElseThrow();
        assertEquals(Integer.toString(i * 500), line.split(",")[0]);
      }
      String overview = jvm.jtrace("report");
      assertTrue(overview.contains("call tree") && overview.contains("arc flow"), overview);
      jvm.jtrace("stop");
    }
  }

  /** Each file of loop= counts what happened in its time; together they have everything. */
  @Test
  void filesOfALoopShareTheCalls() {
    try (LiveJvm jvm = new LiveJvm()) {
      String started = jvm.jtrace("start", "out=%n.bin", "loop=1h", "include=Attached::step");
      assertTrue(started.contains("1.bin"), started);
      long sum = 0;
      for (int i = 1; i <= 3; i++) {
        jvm.ask("work " + 100 * i);
        String csv = jvm.jtrace("report", "--report=flat", "--format=csv");
        assertTrue(csv.contains("\n" + 100 * i + ","), csv);
        Path ended = Path.of(jvm.jtrace("dump").strip());
        assertEquals(jvm.folder.resolve(i + ".bin").toString(), ended.toString());
        long calls = Report.of(ended, "--report=flat").sum("calls", STEP);
        assertEquals(100L * i, calls);
        sum += calls;
      }
      jvm.jtrace("stop");
      assertEquals(600, sum);
      assertEquals(
          0, Report.of(jvm.folder.resolve("4.bin"), "--report=flat").sum("calls", STEP));
    }
  }

  @Test
  void durationEndsARecordingAndResumeBeginsAnother() throws InterruptedException {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "-d", "1", "out=a.bin");
      await(() -> !jvm.jtrace("status").contains("recording"));
      Path first = jvm.folder.resolve("a.bin");
      assertTrue(Report.text(first, "--report=summary").contains("duration"));
      jvm.jtrace("resume");
      jvm.ask("work 77");
      jvm.jtrace("stop");
      assertEquals(
          77, Report.of(jvm.folder.resolve("a.2.bin"), "--report=flat").sum("calls", STEP));
    }
  }

  @Test
  void marksAndStatusAndErrorsReachTheirReaders() {
    try (LiveJvm jvm = new LiveJvm()) {
      assertEquals(2, jvm.tryJtrace("stop").exit());
      jvm.jtrace("start", "out=m.bin");
      assertTrue(jvm.jtrace("status").contains("m.bin"));
      jvm.jtrace("mark", "half", "way");
      Jvm.Result again = jvm.tryJtrace("start");
      assertEquals(2, again.exit());
      assertTrue(again.err().contains("stop it first"), again.err());
      jvm.jtrace("stop");
      assertTrue(
          Report.text(jvm.folder.resolve("m.bin"), "--report=dump")
              .contains("\tmark\thalf way\n"));
      Jvm.Result wrong = jvm.tryJtrace("start", "intervall=1ms");
      assertEquals(1, wrong.exit());
      assertTrue(wrong.err().contains("'interval'"), wrong.err());
      Jvm.Result unwritable = jvm.tryJtrace("start", "out=/nowhere/x.bin");
      assertEquals(2, unwritable.exit());
      assertTrue(unwritable.err().contains("/nowhere/x.bin"), unwritable.err());
      assertEquals("worked", jvm.ask("work 10"), "the program runs on");
      String listed = Jvm.execute(List.of(Setup.COMMAND.toString(), "list"), null).out();
      assertTrue(listed.contains(jvm.pid()), listed);
      assertEquals(0, jvm.end());
    }
  }

  /** What the disk refuses ends the recording, not the program; the probes go out. */
  @Test
  void failedWriteIsToldAndTakesTheProbesOut() throws Exception {
    for (String control : List.of("control=on", "control=off")) {
      try (LiveJvm jvm = new LiveJvm("-agentpath:" + Setup.AGENT + "=out=cut.bin," + control)) {
        jvm.limitFiles(20_000);
        await(
            () -> {
              jvm.ask("work 1000");
              jvm.ask("gc");
              return jvm.errors().contains("recording stopped");
            });
        if (control.equals("control=off")) {
          await(() -> jcmd(jvm, "stop").contains("return code: 2"));
          assertTrue(jvm.errors().contains("cannot write 'cut.bin'"), jvm.errors());
          assertEquals("worked", jvm.ask("work 1000"));
          continue;
        }
        Jvm.Result stop = jvm.tryJtrace("stop");
        assertEquals(2, stop.exit());
        assertTrue(stop.err().contains("failed: "), stop.err());
        assertTrue(stop.err().contains("cannot write 'cut.bin'"), stop.err());
        String status = jvm.jtrace("status");
        assertTrue(status.contains("idle") && status.contains("cannot write 'cut.bin'"), status);
        Report.text(jvm.folder.resolve("cut.bin"), "--report=summary");  // readable
        jvm.limitFiles(1L << 40);
        checkNoProbes(jvm);
        checkWindow(jvm, "again.bin", 777);
        assertEquals(0, jvm.end());
      }
    }
  }

  @Test
  void startThatFailsLeavesTheFileAndTheOptionsAsTheyWere() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      checkWindow(jvm, "keep.bin", 300);
      Path kept = jvm.folder.resolve("keep.bin");
      byte[] before = Files.readAllBytes(kept);
      for (String wrong : List.of("log=/nowhere/x.log", "config=" + jvm.folder)) {
        Jvm.Result refused = jvm.tryJtrace("start", "out=keep.bin", wrong);
        assertEquals(1, refused.exit(), refused.err());
        assertTrue(refused.err().contains(wrong.substring(wrong.indexOf('=') + 1)), refused.err());
        assertEquals(1, refused.err().lines().count(), refused.err());
      }
      // Nine kinds of probes are one too many: that comes out after all else.
      List<String> kinds =
          List.of("none", "coarse", "tsc", "cpu", "manual");
      Jvm.Result last = null;
      int made = 0;
      for (String record : List.of("tree", "log")) {
        for (String clock : kinds) {
          last = jvm.tryJtrace("start", "out=keep.bin", "record=" + record, "clock=" + clock);
          if (last.exit() != 0) break;
          made++;
          jvm.jtrace("stop");
          before = Files.readAllBytes(kept);
        }
      }
      assertEquals(2, last.exit());
      assertTrue(last.err().contains("too many kinds of probes"), last.err());
      assertTrue(made >= 7, made + " kinds");
      assertArrayEquals(before, Files.readAllBytes(kept));
      assertEquals(2, jvm.tryJtrace("start", "out=new.bin", "record=log", "clock=manual").exit());
      assertFalse(Files.exists(jvm.folder.resolve("new.bin")));
      String resumed = jvm.jtrace("resume");
      assertTrue(resumed.contains("keep.") && !resumed.contains("clock=manual"), resumed);
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
  }

  /** The attach of the JDK's own tool; the action is the first word of the options. */
  @Test
  void jcmdLoadsAndStopsTheAgent() {
    try (LiveJvm jvm = new LiveJvm()) {
      assertTrue(jcmd(jvm, "out=j.bin,mode=events").contains("return code: 0"));
      jvm.ask("work 55");
      assertTrue(jcmd(jvm, "stop").contains("return code: 0"));
      assertEquals(
          55, Report.of(jvm.folder.resolve("j.bin"), "--report=flat").sum("calls", STEP));
      assertTrue(jcmd(jvm, "mod=events").contains("return code: 1"));
      assertTrue(jvm.errors().contains("did you mean 'mode'?"), jvm.errors());
    }
  }

  /** The JVM closes the library of an attach that failed. */
  @Test
  void failedAttachDoesNoHarm() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      for (int i = 0; i < 3; i++) {
        assertTrue(jcmd(jvm, "out=/nowhere/x.bin").contains("return code: 2"));
        Thread.sleep(100);
        assertEquals("worked", jvm.ask("work 10"));
      }
      checkWindow(jvm, "after.bin", 1111);
      assertEquals(0, jvm.end());
    }
  }

  /** Another copy of the library has no place beside the first, which goes on undisturbed. */
  @Test
  void secondAgentIsRefused() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      Path copy = jvm.folder.resolve("libjtrace.so");
      Files.copy(Setup.AGENT, copy);
      jvm.jtrace("start", "out=first.bin");
      jvm.ask("work 100");
      assertTrue(jcmd(jvm, copy, "start,out=second.bin").contains("return code: 2"));
      assertFalse(Files.exists(jvm.folder.resolve("second.bin")));
      jvm.ask("work 23");
      jvm.jtrace("stop");
      Report flat = Report.of(jvm.folder.resolve("first.bin"), "--report=flat");
      assertEquals(123, flat.sum("calls", STEP));
      assertEquals(0, jvm.end());
    }
    Jvm.Result twice =
        new Jvm()
            .agent("")
            .arguments("-agentpath:" + Setup.AGENT + "=out=/dev/null")
            .run("Attached", "0");
    assertEquals(1, twice.exit());
    assertTrue(twice.err().contains("names jtrace twice"), twice.err());
  }

  private static String jcmd(LiveJvm jvm, String options) {
    return jcmd(jvm, Setup.AGENT, options);
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "not within a minute");
      Thread.sleep(20);
    }
  }

  private static String jcmd(LiveJvm jvm, Path library, String options) {
    List<String> command =
        List.of(
            Setup.JDK.resolve("bin/jcmd").toString(),
            jvm.pid(),
            "JVMTI.agent_load",
            library.toString(),
            "\"" + options + "\"");
    return Jvm.execute(command, null).out();
  }

  /** With -agentpath and nothing to record until somebody asks. */
  @Test
  void agentThatServesRecordsWhenAsked() {
    try (LiveJvm jvm = new LiveJvm("-agentpath:" + Setup.AGENT + "=serve")) {
      checkWindow(jvm, "a.bin", 100);
      checkWindow(jvm, "b.bin", 200);
      assertEquals(0, jvm.end());
    }
  }

  /** A recording from the start can be stopped and followed by others. */
  @Test
  void recordingFromLoadCanBeStopped() {
    try (LiveJvm jvm = new LiveJvm("-agentpath:" + Setup.AGENT + "=out=load.bin")) {
      jvm.ask("work 123");
      jvm.jtrace("stop");
      jvm.ask("work 1000");
      assertEquals(
          123, Report.of(jvm.folder.resolve("load.bin"), "--report=flat").sum("calls", STEP));
      checkWindow(jvm, "later.bin", 456);
      assertEquals(0, jvm.end());
    }
  }

  /** While JFR records, which uses the same signal on JDK 25. */
  @Test
  void jfrRecordsBesideIt() throws Exception {
    Path recording = Jvm.temporary("jfr", ".jfr");
    try (LiveJvm jvm =
        new LiveJvm(
            "-Xlog:jfr+startup=off",
            "-XX:StartFlightRecording=settings=profile,filename=" + recording)) {
      checkWindow(jvm, "a.bin", 1000);
      checkWindow(jvm, "b.bin", 2000);
      assertEquals(0, jvm.end());
    }
    assertNotEquals(0, Files.size(recording));
    try (var events = new jdk.jfr.consumer.RecordingFile(recording)) {
      assertTrue(events.hasMoreEvents());
    }
  }
}
