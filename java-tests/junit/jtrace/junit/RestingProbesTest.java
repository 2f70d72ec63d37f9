package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code serve,probes=resting}: probes that are in from the start, and count while a recording runs. */
final class RestingProbesTest {
  private static final String SERVE = "-agentpath:" + Setup.AGENT + "=serve,probes=resting";
  private static final int CLASSES = 300;

  private static long redefinitions(Path safepoints) throws Exception {
    return Files.readAllLines(safepoints).stream().filter(line -> line.contains("RedefineClasses")).count();
  }

  @Test
  void countsOfEveryWindowAreExactAndNoClassChanges() throws Exception {
    Path safepoints = Jvm.temporary("safepoints", ".log");
    try (LiveJvm jvm = new LiveJvm(SERVE, "-Xlog:safepoint:file=" + safepoints)) {
      assertEquals("worked", jvm.ask("work 100000"));
      for (int i = 0; i < 3; i++) {
        AttachTest.checkWindow(jvm, "merged.bin", 1000 + i);
        assertEquals("worked", jvm.ask("work 500"));
        AttachTest.checkWindow(jvm, "events.bin", 2000 + i, "mode=events");
        assertEquals("worked", jvm.ask("work 100000"));
      }
      assertEquals(0, redefinitions(safepoints));
      // Other probes replace them for one recording.
      AttachTest.checkWindow(jvm, "clock.bin", 300, "clock=tsc");
      long others = redefinitions(safepoints);
      assertTrue(others > 0, "classes were not changed");
      AttachTest.checkWindow(jvm, "again.bin", 400, "mode=events");
      assertEquals(others, redefinitions(safepoints));
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void flatCountsAreExact() {
    try (LiveJvm jvm = new LiveJvm(SERVE + ",record=flat")) {
      AttachTest.checkWindow(jvm, "1.bin", 1234, "record=flat");
      assertEquals("worked", jvm.ask("work 50000"));
      AttachTest.checkWindow(jvm, "2.bin", 4321, "record=flat", "mode=events");
      AttachTest.checkWindow(jvm, "tree.bin", 77);
      AttachTest.checkWindow(jvm, "3.bin", 5, "record=flat");
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void theScopeIsThatOfTheStart() {
    try (LiveJvm jvm = new LiveJvm(SERVE + ",include=Attached::step;Attached::work")) {
      String status = jvm.jtrace("status");
      assertTrue(status.contains("probes    rest in 1 class"), status);
      String started = jvm.jtrace("start", "--probes", "out=scope.bin");
      assertTrue(started.contains("probes=resting,"), started);
      assertEquals("worked", jvm.ask("work 70"));
      jvm.jtrace("stop");
      Report flat = Report.of(jvm.folder.resolve("scope.bin"), "--report=flat");
      assertEquals(70, flat.sum("calls", AttachTest.STEP));
      assertEquals(0, flat.sum("calls", "Attached.mix(long)"));
      // The thread counts as one.
      assertEquals(71, flat.sum("calls", AttachTest.STEP) + flat.sum("calls", "Attached.work(long)"));
      // Another scope needs other probes.
      String said = jvm.tryJtrace("start", "--probes", "out=other.bin", "include=Attached::mix").err();
      assertTrue(said.contains("whose include=, exclude= differs: others take their place"), said);
      assertEquals("worked", jvm.ask("work 60"));
      jvm.jtrace("stop");
      flat = Report.of(jvm.folder.resolve("other.bin"), "--report=flat");
      assertEquals(60, flat.sum("calls", "Attached.mix(long)"));
      assertEquals(0, flat.sum("calls", AttachTest.STEP));
      // One that gets no probes at all has its resting ones afterwards.
      jvm.jtrace("start", "--probes", "out=none.bin", "include=Attached::nothing");
      assertEquals("worked", jvm.ask("work 50"));
      jvm.jtrace("stop");
      jvm.jtrace("start", "out=samples.bin");
      assertEquals("worked", jvm.ask("work 50"));
      jvm.jtrace("stop");
      AttachTest.checkNothingCounted(jvm, "work 30", "step(long)");
      jvm.jtrace("start", "--probes", "out=last.bin", "mode=events");
      assertEquals("worked", jvm.ask("work 40"));
      jvm.jtrace("stop");
      assertEquals(40, Report.of(jvm.folder.resolve("last.bin"), "--report=flat").sum("calls", AttachTest.STEP));
      jvm.jtrace("resume");
      assertEquals("worked", jvm.ask("work 20"));
      String wrote = jvm.jtrace("stop");
      Path resumed = jvm.folder.resolve(wrote.replaceAll("(?s).*wrote ([^:]+):.*", "$1"));
      assertEquals(20, Report.of(resumed, "--report=flat").sum("calls", AttachTest.STEP));
      assertEquals(0, jvm.end());
    }
  }

  /** Classes that are loaded between VMInit and the recording, by a loader of the program. */
  @Test
  void classesOfAllLoadersCount() throws Exception {
    Path safepoints = Jvm.temporary("safepoints", ".log");
    try (LiveJvm jvm = LiveJvm.of(Setup.classpath(), List.of("ManyClasses", Integer.toString(CLASSES)), SERVE,
        "-Xlog:safepoint:file=" + safepoints)) {
      assertEquals(CLASSES * 50, jvm.askNumber("round 50"));
      for (int round = 1; round <= 3; round++) {
        jvm.jtrace("start", "--probes", "out=r.bin", "mode=events");
        assertEquals((long) CLASSES * round, jvm.askNumber("round " + round));
        jvm.jtrace("stop");
        Report flat = Report.of(jvm.folder.resolve("r.bin"), "--report=flat");
        long runs = flat.rows().stream()
            .filter(row -> row.get("name").startsWith("Batch0") && row.get("name").endsWith(".run()"))
            .mapToLong(row -> Long.parseLong(row.get("calls"))).sum();
        assertEquals((long) CLASSES * round, runs);
      }
      assertEquals(0, redefinitions(safepoints));
      assertEquals(0, jvm.end());
    }
  }

  /** What lost code of C2, of the methods that are called most. */
  private static List<String> discarded(Path compilations) throws Exception {
    return Files.readAllLines(compilations).stream()
        .filter(line -> line.contains("made not entrant") && line.matches(".* 4 +Attached::(step|tick|mix|deep) .*")).toList();
  }

  private static void checkCodeStays(String more, String... options) throws Exception {
    Path compilations = Jvm.temporary("compilations", ".log");
    try (LiveJvm jvm = new LiveJvm(SERVE + more, "-Xbatch", "-Xlog:jit+compilation=debug:file=" + compilations)) {
      for (int i = 0; i < 20; i++) assertEquals("worked", jvm.ask("work 1000000"));
      List<String> before = discarded(compilations);
      String[] all = new String[options.length + 3];
      System.arraycopy(options, 0, all, 3, options.length);
      all[0] = "--probes";
      all[1] = "out=hot.bin";
      all[2] = "mode=events";
      jvm.jtrace("start", all);
      for (int i = 0; i < 20; i++) assertEquals("worked", jvm.ask("work 1000000"));
      List<String> after = discarded(compilations);
      jvm.jtrace("stop");
      assertEquals(before, after);
      Report flat = Report.of(jvm.folder.resolve("hot.bin"), "--report=flat");
      assertEquals(20_000_000, flat.sum("calls", AttachTest.STEP));
      assertEquals(0, jvm.end());
    }
  }

  /** C2 leaves out of its code what has never run; then each method would lose its code when it first counts. */
  @Test
  void compiledCodeStays() throws Exception {
    checkCodeStays("");
  }

  @Test
  void compiledCodeOfFlatCountsStays() throws Exception {
    checkCodeStays(",record=flat", "record=flat");
  }

  @Test
  void theInterpreterCountsToo() {
    try (LiveJvm jvm = new LiveJvm(SERVE, "-Xint")) {
      AttachTest.checkWindow(jvm, "int.bin", 500, "mode=events");
      assertEquals("worked", jvm.ask("work 10"));
      AttachTest.checkWindow(jvm, "int2.bin", 600);
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void onlyCallsAloneCanRest() {
    Jvm.Result refused = Jvm.execute(List.of(Setup.java(), SERVE + ",clock=tsc", "-cp", Setup.classpath(), "Empty"), null);
    assertTrue(refused.err().contains("resting ones count calls alone"), refused.err());
    refused = Jvm.execute(
        List.of(Setup.java(), "-agentpath:" + Setup.AGENT + "=probes=resting", "-cp", Setup.classpath(), "Empty"), null);
    assertTrue(refused.err().contains("serve,probes=resting"), refused.err());
  }
}
