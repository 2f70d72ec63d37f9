package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.tools.ExecFileLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Beside agents that rewrite the same classes each agent counts the same as without the other. */
final class OtherAgentsTest {
  private static final String CASE = "cases.ControlFlow";
  private static final String SCOPE = "include=cases.**";

  // --- a test agent with an independent counter at every entry ---

  private static String counting(String commands) {
    return "-javaagent:" + Setup.property("jtrace.counting.agent") + "=" + commands;
  }

  /** The other agent's name of a method, such as "cases/A.m(I)I" → calls. */
  static Map<String, Long> countsOf(Path file) throws Exception {
    Map<String, Long> counts = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      int space = line.indexOf(' ');
      long count = Long.parseLong(line.substring(0, space));
      String name = line.substring(space + 1, line.indexOf('(')).replace('/', '.');
      if (count != 0) counts.merge(name, count, Long::sum);
    }
    return counts;
  }

  /** The same of jtrace; without parameters, so that names need no translation. */
  private static Map<String, Long> countsOf(Report flat, String prefix) {
    Map<String, Long> counts = new TreeMap<>();
    for (Map<String, String> row : flat.rows()) {
      String name = row.get("name");
      if (!name.startsWith(prefix) || name.indexOf('(') < 0 || row.get("calls").isEmpty()) continue;
      long calls = Long.parseLong(row.get("calls"));
      if (calls != 0) counts.merge(name.substring(0, name.indexOf('(')), calls, Long::sum);
    }
    return counts;
  }

  private static List<String> ordered(boolean jtraceFirst, String trace, String options, String other) {
    String jtrace = "-agentpath:" + Setup.AGENT + "=out=" + trace + "," + options;
    return jtraceFirst ? List.of(jtrace, other) : List.of(other, jtrace);
  }

  private static Jvm.Result run(List<String> agents, String[] jars, String... program) {
    Jvm jvm = new Jvm().classpath(jars).arguments(agents.toArray(String[]::new));
    Jvm.Result result = jvm.run(program);
    assertEquals(0, result.exit(), result.err());
    return result;
  }

  @Test
  void countingAgentAndJtraceAgreeInBothOrders() throws Exception {
    for (boolean first : List.of(true, false)) {
      for (String record : List.of("tree", "log", "flat")) {
        Path trace = Jvm.temporary("both", ".bin");
        Path counts = Jvm.temporary("counts", ".txt");
        run(
            ordered(
                first,
                trace.toString(),
                SCOPE + ",record=" + record,
                counting("on cases/|out " + counts)),
            new String[] {},
            CASE);
        Map<String, Long> theirs = countsOf(counts);
        assertTrue(theirs.size() > 5, theirs.toString());
        assertEquals(theirs, countsOf(Report.of(trace, "--report=flat"), "cases."), record);
      }
    }
  }

  /** The other agent starts first: it has loaded and changed a class before jtrace's hook is on. */
  @Test
  void countsAClassThatTheOtherAgentChangedBefore() throws Exception {
    Path trace = Jvm.temporary("both", ".bin");
    Path counts = Jvm.temporary("counts", ".txt");
    run(
        ordered(
            /* jtraceFirst= */ false,
            trace.toString(),
            "exclude=agents.**;org.objectweb.**",
            counting("redefine " + CASE + "|out " + counts)),
        new String[] {},
        CASE);
    Map<String, Long> theirs = countsOf(counts);
    assertTrue(theirs.size() > 5, theirs.toString());
    assertEquals(theirs, countsOf(Report.of(trace, "--report=flat"), CASE + "."));
  }

  /** Classes that were loaded before the attach pass through both agents again. */
  @Test
  void attachKeepsTheOtherAgentsCounters() throws Exception {
    Path counts = Jvm.temporary("counts", ".txt");
    try (LiveJvm jvm = new LiveJvm(counting("on Attached"))) {
      jvm.ask("work 100");
      jvm.jtrace("start", "--probes", "out=a.bin", "include=Attached");
      jvm.ask("work 2000");
      jvm.jtrace("stop");
      jvm.ask("work 30");
      write(jvm, counts);
      assertEquals(2130, countsOf(counts).get("Attached.step"));
      Report flat = Report.of(jvm.folder.resolve("a.bin"), "--report=flat");
      assertEquals(2000, flat.sum("calls", "Attached.step(long)"));
      assertEquals(0, jvm.end());
    }
  }

  static void write(LiveJvm jvm, Path counts) {
    send(jvm, "write " + counts);
  }

  static void send(LiveJvm jvm, String commands) {
    Jvm.Result result =
        Jvm.execute(
            List.of(
                Setup.JDK.resolve("bin/jcmd").toString(),
                jvm.pid(),
                "JVMTI.agent_load",
                Setup.property("jtrace.counting.agent"),
                "\"" + commands + "\""),
            null);
    assertTrue(result.out().contains("return code: 0"), result.out() + jvm.errors());
  }

  /** The other agent starts, redefines and stops while jtrace records. */
  @Test
  void countsStayExactWhenClassesAreRedefined() throws Exception {
    Path counts = Jvm.temporary("counts", ".txt");
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "--probes", "out=r.bin", "include=Attached", "codes=+redefine");
      jvm.ask("work 1000");
      send(jvm, "redefine Attached");
      jvm.ask("work 500");
      send(jvm, "on Attached");
      jvm.ask("work 60");
      send(jvm, "off");
      jvm.ask("work 7");
      jvm.jtrace("stop");
      write(jvm, counts);
      Path trace = jvm.folder.resolve("r.bin");
      Report flat = Report.of(trace, "--report=flat");
      assertEquals(1567, flat.sum("calls", "Attached.step(long)"));
      assertEquals(4, flat.sum("calls", "Attached.work(long)"));
      // Redefined with counters; one more a call while the transformer was installed. JDK 17 itself
      // forgets a redefinition when the class is retransformed later.
      long redefinedCalls = Setup.JDK_MAJOR > 17 ? 500 + 2 * 60 + 7 : 500 + 60;
      assertEquals(redefinedCalls, countsOf(counts).get("Attached.step"));
      long redefined =
          Report.text(trace, "--report=dump")
              .lines()
              .filter(line -> line.contains("\tclass-redefine\t") && line.contains("Attached"))
              .count();
      assertEquals(3, redefined);
      assertEquals(0, jvm.end());
    }
  }

  /** Samples change no class, and so see no redefinition: new methods are found by their address. */
  @ParameterizedTest
  @EnumSource(Timer.class)
  void samplesNameMethodsThatWereRedefined(Timer timer) {
    try (LiveJvm jvm = LiveJvm.of(timer)) {
      jvm.ask("work 1000");
      jvm.jtrace("start", "mode=samples", timer.option, "interval=1ms", "out=s.bin");
      send(jvm, "redefine Attached");
      jvm.ask("time 300000000");
      jvm.jtrace("stop");
      Path trace = jvm.folder.resolve("s.bin");
      long inWork = 0;
      long all = 0;
      for (Map<String, String> row :
          Report.of(trace, "--report=samples", "--thread=main").rows()) {
        // Before and after, it waits for what it is asked.
        if (timer == Timer.WALL && !row.get("state").equals("running")) continue;
        long weight = Long.parseLong(row.get("weight"));
        all += weight;
        if (row.get("stack").contains("Attached.work(long)")) inWork += weight;
      }
      assertTrue(all > 100 && inWork > 0.9 * all, inWork + " of " + all);
      assertEquals(0, Losses.of(trace).get("frame.unknown_method").count());
      assertEquals(0, jvm.end());
    }
  }

  /** JDK 17 gives jtrace the class as it was before; the other agent's changes must stay. */
  @Test
  void stopKeepsRedefinitions() throws Exception {
    Path counts = Jvm.temporary("counts", ".txt");
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "--probes", "out=1.bin", "include=Attached");
      send(jvm, "redefine Attached");
      jvm.jtrace("stop");
      jvm.ask("work 100");
      jvm.jtrace("start", "--probes", "out=2.bin", "include=Attached");
      jvm.ask("work 20");
      jvm.jtrace("stop");
      jvm.ask("work 3");
      write(jvm, counts);
      assertEquals(123, countsOf(counts).get("Attached.step"));
      Report flat = Report.of(jvm.folder.resolve("2.bin"), "--report=flat");
      assertEquals(20, flat.sum("calls", "Attached.step(long)"));
      assertEquals(0, jvm.end());
    }
  }

  // --- JaCoCo ---

  private static String jacoco(Path exec) {
    return "-javaagent:" + Setup.property("jtrace.jacoco.agent") + "=destfile=" + exec
        + ",includes=cases.*:Attached";
  }

  /** Class name → which of its probes were reached, by the class file's own number. */
  private static Map<String, String> coverageOf(Path exec) throws Exception {
    ExecFileLoader loader = new ExecFileLoader();
    loader.load(exec.toFile());
    Map<String, String> coverage = new TreeMap<>();
    for (ExecutionData data : loader.getExecutionDataStore().getContents()) {
      coverage.put(data.getName() + "#" + data.getId(), Arrays.toString(data.getProbes()));
    }
    return coverage;
  }

  private static Path exec() throws Exception {
    Path exec = Jvm.temporary("coverage", ".exec");
    Files.delete(exec);
    return exec;
  }

  private static Map<String, Long> withoutJacoco(Map<String, Long> counts) {
    counts.keySet().removeIf(name -> name.endsWith(".$jacocoInit"));
    return counts;
  }

  @Test
  void coverageAndCountsEqualThoseOfSeparateRuns() throws Exception {
    Path alone = exec();
    run(List.of(jacoco(alone)), new String[] {}, CASE);
    Map<String, String> coverage = coverageOf(alone);
    assertFalse(coverage.isEmpty());
    Map<String, Long> counts =
        countsOf(new Jvm().agent(SCOPE).run(CASE).report("--report=flat"), "cases.");
    for (boolean first : List.of(true, false)) {
      for (String record : List.of("tree", "flat", "log")) {
        Path both = exec();
        Path trace = Jvm.temporary("jacoco", ".bin");
        run(
            ordered(first, trace.toString(), SCOPE + ",record=" + record, jacoco(both)),
            new String[] {},
            CASE);
        assertEquals(coverage, coverageOf(both));
        Map<String, Long> beside = countsOf(Report.of(trace, "--report=flat"), "cases.");
        assertNotEquals(counts, beside, "JaCoCo's own method is counted too");
        assertEquals(counts, withoutJacoco(beside), record);
      }
    }
  }

  @Test
  void coverageStaysExactUnderAttach() throws Exception {
    Path alone = exec();
    Path beside = exec();
    for (Path exec : List.of(alone, beside)) {
      try (LiveJvm jvm = new LiveJvm(0, jacoco(exec))) {
        if (exec.equals(beside)) jvm.jtrace("start", "--probes", "out=a.bin", "include=Attached");
        jvm.ask("work 1234");
        if (exec.equals(beside)) {
          jvm.jtrace("stop");
          Report flat = Report.of(jvm.folder.resolve("a.bin"), "--report=flat");
          assertEquals(1234, flat.sum("calls", "Attached.step(long)"));
        }
        assertEquals(0, jvm.end());
      }
    }
    assertEquals(coverageOf(alone), coverageOf(beside));
  }

  // --- JFR ---

  @Test
  void jfrRecordsWhileCountsStayExact() throws Exception {
    Path recording = Jvm.temporary("jfr", ".jfr");
    Jvm.Result plain = new Jvm().agent(SCOPE).run(CASE);
    Jvm.Result recorded =
        new Jvm()
            .agent(SCOPE)
            .arguments(
                "-Xlog:jfr+startup=off",
                "-XX:StartFlightRecording=settings=profile,filename=" + recording)
            .run(CASE);
    assertEquals(0, recorded.exit());
    assertEquals(plain.out(), recorded.out());
    assertEquals(
        countsOf(plain.report("--report=flat"), "cases."),
        countsOf(recorded.report("--report=flat"), "cases."));
    boolean sawProgram = false;
    try (var events = new jdk.jfr.consumer.RecordingFile(recording)) {
      while (events.hasMoreEvents()) {
        var event = events.readEvent();
        sawProgram |=
            event.getEventType().getName().equals("jdk.JVMInformation")
                && event.getString("javaArguments").contains(CASE);
      }
    }
    assertTrue(sawProgram);
  }
}
