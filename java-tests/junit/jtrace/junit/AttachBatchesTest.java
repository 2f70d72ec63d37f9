package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Probes that {@code jtrace start} puts into many loaded classes, batch by batch. */
final class AttachBatchesTest {
  private static final int CLASSES = 2000;
  // The run methods and the two calls of step, each time.
  private static final int CALLS_OF_A_CLASS = 3;
  private static final String SCOPE = "include=Batch0*";
  /** So slow that the test always comes in between. */
  private static final String SLOW = "probebudget=1%";

  private static LiveJvm program(String... jvmArguments) {
    return LiveJvm.of(
        Setup.classpath(), List.of("ManyClasses", Integer.toString(CLASSES)), jvmArguments);
  }

  private static long stops(Path safepoints) throws Exception {
    return Files.readAllLines(safepoints).stream()
        .filter(line -> line.contains("RedefineClasses"))
        .count();
  }

  @Test
  void changesNoClassByDefault() throws Exception {
    Path safepoints = Jvm.temporary("safepoints", ".log");
    try (LiveJvm jvm = program("-Xlog:safepoint:file=" + safepoints)) {
      String started = jvm.jtrace("start", "out=s.bin");
      assertTrue(started.contains("mode=samples"), started);
      assertEquals(CLASSES * 10, jvm.askNumber("round 10"));
      jvm.jtrace("stop");
      assertEquals(0, stops(safepoints));
      assertEquals(0, Report.of(jvm.folder.resolve("s.bin"), "--report=flat").sum("calls", "Batch00000001.run()"));
      String refused = jvm.tryJtrace("start", "out=s.bin", "record=flat").err();
      assertTrue(refused.contains("add --probes"), refused);
      assertEquals(0, jvm.end());
    }
  }

  /** How often each class's run method was called, by its class. */
  private static Map<String, Long> runs(Path trace) {
    Map<String, Long> calls = new HashMap<>();
    for (Map<String, String> row : Report.of(trace, "--report=flat").rows()) {
      if (!row.get("name").endsWith(".run()")) continue;
      calls.put(row.get("name").split("\\.")[0], Long.parseLong(row.get("calls")));
    }
    return calls;
  }

  private static void checkAll(LiveJvm jvm, String trace, int rounds) {
    Path file = jvm.folder.resolve(trace);
    Map<String, Long> runs = runs(file);
    assertEquals(CLASSES, runs.size());
    assertTrue(runs.values().stream().allMatch(calls -> calls == rounds), runs.toString());
    long all = Report.of(file, "--report=flat").sum("calls");
    // Each thread's root counts one.
    assertTrue(all >= (long) CLASSES * rounds * CALLS_OF_A_CLASS, Long.toString(all));
  }

  @Test
  void countsAreExactOnceAllProbesAreIn() throws Exception {
    Path safepoints = Jvm.temporary("safepoints", ".log");
    try (LiveJvm jvm = program("-Xlog:safepoint:file=" + safepoints)) {
      for (int round = 1; round <= 2; round++) {
        Jvm.Result started = jvm.tryJtrace("start", "--probes", "out=a.bin", SCOPE, "probebudget=5%");
        assertEquals(0, started.exit(), started.err());
        assertTrue(started.err().contains("of processor time"), started.err());
        assertEquals(
            round == 1, started.err().contains("discard all compiled code"), started.err());
        assertEquals(CLASSES * 7, jvm.askNumber("round 7"));
        jvm.jtrace("stop");
        checkAll(jvm, "a.bin", 7);
      }
      // In and out, twice; one batch for each would be four.
      assertTrue(stops(safepoints) > 4, stops(safepoints) + " batches");
      AttachTest.checkNothingCounted(jvm, "round 5", "run()");
      assertEquals(0, jvm.end());
    }
  }

  /** The first change costs an attached JVM all its compiled code: then one batch has all classes. */
  @Test
  void theFirstOfAnAttachGoInAtOnce() throws Exception {
    Path safepoints = Jvm.temporary("safepoints", ".log");
    try (LiveJvm jvm = program("-Xlog:safepoint:file=" + safepoints)) {
      Jvm.Result started = jvm.tryJtrace("start", "--probes", "out=a.bin", SCOPE);
      assertEquals(0, started.exit(), started.err());
      assertTrue(started.err().contains("at once (probebudget=10%: in batches)"), started.err());
      assertEquals(1, stops(safepoints));
      assertEquals(CLASSES * 3, jvm.askNumber("round 3"));
      jvm.jtrace("stop");
      checkAll(jvm, "a.bin", 3);
      long before = stops(safepoints);
      started = jvm.tryJtrace("start", "--probes", "out=b.bin", SCOPE);
      assertTrue(started.err().contains("at the pace of the JIT"), started.err());
      assertTrue(stops(safepoints) > before + 1, stops(safepoints) + " after " + before);
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
  }

  private static long callsOf(Path trace, String prefix) {
    return Report.of(trace, "--report=flat").rows().stream()
        .filter(row -> row.get("name").startsWith(prefix) && row.get("name").endsWith(".run()"))
        .mapToLong(row -> Long.parseLong(row.get("calls")))
        .sum();
  }

  /** Of a library with 18,000 methods and a program that runs little, the program is counted. */
  @Test
  void aLargeProgramsOwnPackagesAreCounted() throws Exception {
    List<String> large = List.of("ManyClasses", "6000", "rx/Li", "20", "me/Ap");
    try (LiveJvm jvm = LiveJvm.of(Setup.classpath(), large)) {
      Jvm.Result started = jvm.tryJtrace("start", "--probes", "out=own%n.bin");
      assertEquals(0, started.exit(), started.err());
      assertTrue(started.err().contains(": include=me.*; --all counts everything"), started.err());
      assertTrue(started.out().contains("include=me.*"), started.out());
      assertEquals(6020 * 3, jvm.askNumber("round 3"));
      jvm.jtrace("stop");
      String resumed = jvm.jtrace("resume");
      assertTrue(resumed.contains("include=me.*"), resumed);
      assertEquals(6020 * 2, jvm.askNumber("round 2"));
      jvm.jtrace("stop");
      for (int file = 1; file <= 2; file++) {
        Path trace = jvm.folder.resolve("own" + file + ".bin");
        assertEquals(file == 1 ? 60 : 40, callsOf(trace, "me.Ap"));
        assertEquals(0, callsOf(trace, "rx.Li"));
      }
      started = jvm.tryJtrace("start", "--all", "out=all.bin", "probebudget=100%");
      assertTrue(started.err().contains("of processor time"), started.err());
      assertFalse(started.out().contains("include="), started.out());
      assertEquals(6020 * 2, jvm.askNumber("round 2"));
      jvm.jtrace("stop");
      assertEquals(12000, callsOf(jvm.folder.resolve("all.bin"), "rx.Li"));
      assertEquals(0, jvm.end());
    }
  }

  /** Starts with a budget so small that many batches are left. */
  private static CompletableFuture<Jvm.Result> startSlowly(LiveJvm jvm, String trace) throws Exception {
    CompletableFuture<Jvm.Result> started =
        CompletableFuture.supplyAsync(
            () -> jvm.tryJtrace("start", "--probes", "out=" + trace, "mode=events", SCOPE, SLOW));
    LiveJvm.await(() -> done(jvm) > 0);
    return started;
  }

  private static int done(LiveJvm jvm) {
    Matcher found =
        Pattern.compile("probes are in ([0-9,]+) of").matcher(jvm.tryJtrace("status").out());
    return found.find() ? Integer.parseInt(found.group(1).replace(",", "")) : 0;
  }

  /** Classes that had their probes before the round, during it, and not until after it. */
  private static void checkPart(Path trace, int rounds) {
    List<String> before = new ArrayList<>();
    List<String> during = new ArrayList<>();
    String now = "";
    for (String line : Report.text(trace, "--report=dump").split("\n")) {
      String[] fields = line.split("\t");
      if (fields.length > 3 && fields[2].equals("mark")) now = fields[3];
      if (!line.contains("\tclass-probed\t")) continue;
      Matcher name = Pattern.compile("Batch[0-9]{8}").matcher(line);
      assertTrue(name.find(), line);
      if (now.isEmpty()) before.add(name.group());
      if (now.equals("begin")) during.add(name.group());
    }
    Map<String, Long> runs = runs(trace);
    assertFalse(before.isEmpty(), "no class had its probes");
    assertTrue(before.size() < CLASSES, "all classes had their probes");
    for (int i = 1; i <= CLASSES; i++) {
      String name = String.format("Batch%08d", i);
      long calls = runs.getOrDefault(name, 0L);
      if (before.contains(name)) {
        assertEquals(rounds, calls, name);
      } else if (!during.contains(name)) {
        assertEquals(0, calls, name);
      }
    }
  }

  @Test
  void aDurationCountsFromWhenAllProbesAreIn() throws Exception {
    try (LiveJvm jvm = program()) {
      String started = jvm.jtrace("start", "--probes", "-d", "1", "out=d.bin", "mode=events", SCOPE, "probebudget=2%");
      assertTrue(started.contains("recording to"), started);
      LiveJvm.await(() -> !jvm.tryJtrace("status").out().contains("recording"));
      String dump = Report.text(jvm.folder.resolve("d.bin"), "--report=dump");
      long probed = dump.lines().filter(line -> line.contains("\tclass-probed\t") && line.contains("Batch0")).count();
      assertEquals(CLASSES, probed);
      assertEquals(0, jvm.end());
    }
  }

  /** The nice values of the JVM's compilers. */
  private static Set<Integer> compilersNice(LiveJvm jvm) {
    Set<Integer> values = new TreeSet<>();
    try (var threads = Files.list(Path.of("/proc/" + jvm.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"));
        if (!stat.matches("(?s).* \\(C[12] CompilerThre.*")) continue;
        // Fields are counted from the name's end, as a name may have spaces.
        values.add(Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16]));
      }
    } catch (java.io.IOException e) {
      return Set.of(); // a compiler has ended
    }
    return values;
  }

  private static boolean mayRaisePriority() throws Exception {
    return new ProcessBuilder("nice", "-n", "-40", "sh", "-c", "test $(nice) = -20").start().waitFor() == 0;
  }

  @Test
  void theCompilersAreFirstUntilTheyRest() throws Exception {
    assumeTrue(mayRaisePriority(), "not verified: needs CAP_SYS_NICE");
    try (LiveJvm jvm = program()) {
      Set<Integer> usual = compilersNice(jvm);
      assertFalse(usual.isEmpty() || usual.contains(-20), usual.toString());
      CompletableFuture<Jvm.Result> started = startSlowly(jvm, "first.bin");
      assertEquals(Set.of(-20), compilersNice(jvm));
      jvm.jtrace("stop");
      String said = started.get().err();
      assertTrue(said.contains("the JVM's compilers have processor time first"), said);
      LiveJvm.await(() -> compilersNice(jvm).equals(usual));
      jvm.jtrace("start", "--probes", "out=second.bin", SCOPE, "compilers=asis");
      assertEquals(usual, compilersNice(jvm));
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
  }

  private static boolean isAllLeft(LiveJvm jvm) {
    return jvm.tryJtrace("status").out().contains("probes are out of 0 of");
  }

  /** A stop rests before its first batch; false: it did not rest until the class was redefined. */
  private static boolean redefineDuringAStop(int classes) throws Exception {
    Path counts = Jvm.temporary("counts", ".txt");
    try (LiveJvm jvm =
        LiveJvm.of(Setup.classpath(), List.of("ManyClasses", "" + classes), new String[0])) {
      jvm.jtrace("start", "--probes", "mode=events", "out=r.bin", SCOPE + ";ManyClasses", SLOW);
      CompletableFuture<Jvm.Result> stopped =
          CompletableFuture.supplyAsync(() -> jvm.tryJtrace("stop"));
      LiveJvm.await(() -> isAllLeft(jvm) || stopped.isDone());
      OtherAgentsTest.send(jvm, "redefine ManyClasses");
      if (!isAllLeft(jvm)) return false;
      // A start takes the rest out at once.
      jvm.jtrace("start", "out=s.bin");
      assertEquals(0, stopped.get().exit(), stopped.get().err());
      jvm.jtrace("stop");
      long calls = jvm.askNumber("round 5");
      OtherAgentsTest.write(jvm, counts);
      assertEquals(classes * 5, calls);
      assertEquals(calls, OtherAgentsTest.countsOf(counts).get("ManyClasses.count"));
      assertEquals(0, jvm.end());
      return true;
    }
  }

  /** JDK 17 would give the class back as it was before. */
  @Test
  void aStopKeepsWhatOthersRedefineMeanwhile() throws Exception {
    for (int tries = 0; tries < 30; tries++) {
      // The more classes, the longer the rest; a busy machine needs a long one.
      if (redefineDuringAStop(300 * (1 + tries / 5))) return;
    }
    fail("the stop never rested long enough");
  }

  @Test
  void aStopAndADumpInBetweenAreExact() throws Exception {
    try (LiveJvm jvm = program()) {
      CompletableFuture<Jvm.Result> started = startSlowly(jvm, "part.bin");
      jvm.jtrace("mark", "begin");
      assertEquals(CLASSES * 3, jvm.askNumber("round 3"));
      jvm.jtrace("mark", "end");
      jvm.jtrace("dump");
      checkPart(jvm.folder.resolve("part.bin"), 3);
      Jvm.Result second = jvm.tryJtrace("start", "--probes", SCOPE);
      assertEquals(2, second.exit());
      assertTrue(second.err().contains("stop it first"), second.err());
      assertTrue(jvm.jtrace("stop").contains("wrote "));
      Jvm.Result ended = started.get();
      assertEquals(2, ended.exit());
      assertTrue(ended.err().contains("ended while its probes were being put in"), ended.err());
      checkPart(jvm.folder.resolve("part.bin"), 3);
      AttachTest.checkNothingCounted(jvm, "round 5", "run()");
      jvm.jtrace("start", "--probes", "out=all.bin", SCOPE, "probebudget=100%");
      assertEquals(CLASSES * 2, jvm.askNumber("round 2"));
      jvm.jtrace("stop");
      checkAll(jvm, "all.bin", 2);
      assertEquals(0, jvm.end());
    }
  }

  /** A stop answers before all probes are out. The rest go by themselves, or with another stop. */
  @Test
  void aStopLeavesTheRestToTheJvm() throws Exception {
    for (boolean again : List.of(false, true)) {
      try (LiveJvm jvm = LiveJvm.of(Setup.classpath(), List.of("ManyClasses", "600"))) {
        jvm.jtrace("start", "--probes", "out=r.bin", "mode=events", SCOPE, SLOW);
        assertEquals(600 * 2, jvm.askNumber("round 2"));
        String stopped = jvm.jtrace("stop");
        assertTrue(stopped.contains("of 600 classes"), stopped);
        assertTrue(stopped.contains("the rest follow while the program runs"), stopped);
        if (!again) LiveJvm.await(() -> jvm.tryJtrace("status").out().startsWith("state     idle"));
        Jvm.Result second = jvm.tryJtrace("stop");
        assertEquals(2, second.exit());
        assertTrue(second.err().contains("the probes of the last one are out"), second.err());
        assertTrue(runs(jvm.folder.resolve("r.bin")).values().stream().allMatch(n -> n == 2));
        AttachTest.checkNothingCounted(jvm, "round 5", "run()");
        assertEquals(0, jvm.end());
      }
    }
  }

  /** Another start does not wait for probes that a stop takes out slowly. */
  @Test
  void aStartFinishesTheStopBeforeIt() throws Exception {
    try (LiveJvm jvm = program()) {
      CompletableFuture<Jvm.Result> started = startSlowly(jvm, "1.bin");
      // With more of them in than one batch has, taking them out lasts.
      int first = done(jvm);
      LiveJvm.await(() -> done(jvm) > first);
      CompletableFuture<Jvm.Result> stopped =
          CompletableFuture.supplyAsync(() -> jvm.tryJtrace("stop"));
      LiveJvm.await(() -> !jvm.tryJtrace("status").out().contains("recording"));
      jvm.jtrace("start", "--probes", "out=2.bin", SCOPE);
      assertEquals(0, stopped.get().exit());
      assertEquals(2, started.get().exit());
      assertEquals(CLASSES * 4, jvm.askNumber("round 4"));
      jvm.jtrace("stop");
      checkAll(jvm, "2.bin", 4);
      assertEquals(0, jvm.end());
    }
  }

  private static void checkIsWhole(Path trace, String end) {
    String dump = Report.text(trace, "--report=dump");
    assertTrue(dump.contains("#@\tsession\tend\t" + end + "\n"), dump.substring(0, 2000));
  }

  @Test
  void aProgramMayEndInBetween() throws Exception {
    try (LiveJvm jvm = program()) {
      assertEquals("working", jvm.ask("busy"));
      CompletableFuture<Jvm.Result> started = startSlowly(jvm, "end.bin");
      assertEquals(0, jvm.end());
      assertEquals(2, started.get().exit());
      checkIsWhole(jvm.folder.resolve("end.bin"), "the program ended");
      assertTrue(Report.of(jvm.folder.resolve("end.bin"), "--report=flat").sum("calls") > 0);
      try (var files = Files.list(jvm.folder)) {
        assertTrue(files.noneMatch(file -> file.toString().contains("hs_err")));
      }
    }
  }

  /** While probes are taken out, too. */
  @Test
  void aProgramMayEndDuringAStop() throws Exception {
    try (LiveJvm jvm = program()) {
      assertEquals("working", jvm.ask("busy"));
      CompletableFuture<Jvm.Result> started = startSlowly(jvm, "end.bin");
      int first = done(jvm);
      LiveJvm.await(() -> done(jvm) > first);
      CompletableFuture<Jvm.Result> stopped =
          CompletableFuture.supplyAsync(() -> jvm.tryJtrace("stop"));
      LiveJvm.await(() -> jvm.tryJtrace("status").out().contains("probes are out of"));
      assertEquals(0, jvm.end());
      stopped.get();
      started.get();
      checkIsWhole(jvm.folder.resolve("end.bin"), "stopped");
    }
  }
}
