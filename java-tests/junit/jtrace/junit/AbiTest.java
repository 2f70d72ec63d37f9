package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** {@code jtrace.h}, used by a program's native code (java-tests/api/native). */
final class AbiTest {
  private static final String CLIENT = Setup.property("jtrace.abi.client");

  /** JDK 24 and later warn about native code that is not allowed by an option. */
  private static String[] allowed() {
    return Setup.JDK_MAJOR >= 24
        ? new String[] {"--enable-native-access=ALL-UNNAMED"}
        : new String[0];
  }

  private static Jvm jvm() {
    return ApiTest.jvm().arguments(allowed());
  }

  /** All queries of a program whose allocations and calls are known; Java gets equal answers. */
  @Test
  void answersEqualThoseOfTheJavaApi() {
    for (String mode : List.of("-Xmixed", "-Xint")) {
      Path second = Jvm.temporary("second", ".bin");
      Jvm.Result result =
          jvm()
              .agent("metrics=alloc.bytes")
              .arguments(mode)
              .run("programs.Abi", CLIENT, "all", second.toString());
      String expected =
          """
          found=true true 0
          same=true
          equal=true 0
          allocated=101600
          process=true
          ended=true
          by tids=true
          cpu=true
          readers=1016 2016 3032 0
          closed=0 -15 0 -15
          counters=user.events|pieces|2|0 user.shared|pieces|0|0
          per cpu=true
          java=true
          by thread=true
          own=0 12 12
          metrics=true
          own per cpu=-7 this metric is not available per thread: read it for the process or for methods
          thread per cpu=-7
          java own per cpu=UnsupportedOperationException: user.events is known only \
          for the process: ask JTrace.processTotal
          java other per cpu=UnsupportedOperationException: user.events is known only \
          for the process: ask JTrace.processTotal
          java counter=IllegalStateException: user.events counts by processor, not by thread: use \
          another name
          other kind=-12
          unattached=-9 -9; 0 0 0 3 -7 0; 0 0 -7 0
          method=MethodStats[calls=8, outermostCalls=2, base=8, cum=8]
          like java's=true
          bytes=MethodStats[calls=8, outermostCalls=2, base=8128, cum=8128]
          like java's bytes=true
          thread=MethodStats[calls=5, outermostCalls=1, base=5, cum=5]
          thread by tids=true
          window=MethodStats[calls=5, outermostCalls=1, base=5, cum=5]
          window process=MethodStats[calls=8, outermostCalls=2, base=8128, cum=8128]
          close=0 -15 -15
          none=MethodStats[calls=0, outermostCalls=0, base=0, cum=0]
          wrong pattern=-13
          not charged=-5
          wrong thread=-9
          wrong name=-4 no metric has this name or number; metric_ids lists those that exist
          wrong id=-4
          not counted=-5 this metric is not counted: begin a recording with metrics=NAME
          process only=-7
          file=-8 true
          no thread=-9
          no such whose=-3
          no name=-10 this cannot name a counter: use letters, digits, '.', '_' and '-', 64 at most
          add=-4
          status=true
          mark=0
          running=true -14
          wrong=!this agent does not know 'begin'; it knows start stop resume dump flush status mark \
          metrics hook -3
          stop=true 0
          idle=-14 0 -14
          stop again=!no recording runs -14
          start=true 0
          second=MethodStats[calls=2, outermostCalls=1, base=2, cum=2]
          dump=true 0
          """;
      assertEquals(expected, result.out(), mode + "\n" + result.err());
      assertEquals(List.of(), result.foreignErrors());
      assertEquals(0, result.exit());
      assertTrue(Report.text(result.trace(), "--report=dump").contains("from C"));
    }
  }

  /** A handler that interrupts the thread anywhere reads 100,000 times and allocates nothing. */
  @Test
  void handlersQueryAndCount() {
    Path trace = Jvm.temporary("handlers", ".bin");
    Jvm.Result result =
        Jvm.execute(
            List.of(
                "/usr/bin/env",
                "LD_PRELOAD=" + CLIENT,
                Setup.java(),
                "-agentpath:" + Setup.AGENT + "=metrics=alloc.bytes,out=" + trace,
                "-Xmx64m",
                "-cp",
                Setup.property("jtrace.api") + ":" + Setup.property("jtrace.api.programs"),
                "programs.Abi",
                CLIENT,
                "handlers",
                "10000"),
            trace);
    assertEquals("handlers=errors 0, mallocs 0, others 1, lost 0\n", result.out(), result.err());
    assertEquals(0, result.exit(), result.err());
  }

  /** Of each run of them the first inner one ends with its outer one, and one more end has none. */
  @Test
  void segmentsOfNativeCodeAreCounted() {
    Jvm.Result result =
        jvm().agent("mode=merged,include=programs.**").run("programs.Abi", CLIENT, "segments");
    Map<String, String> printed = ApiTest.printed(result);
    assertEquals("0", printed.get("errors"), result.out());
    long count = Long.parseLong(printed.get("segments"));
    Map<String, Long> counted = new TreeMap<>();
    for (Map<String, String> row : result.report("--report=segments").rows()) {
      counted.put(row.get("name"), Long.parseLong(row.get("count")));
    }
    assertEquals(Map.of("java", 1L, "native", count, "native inner", count), counted);
    int runs = count == 20_002 ? 2 : 3;
    String summary = Report.text(result.trace(), "--report=summary", "--format=csv");
    assertTrue(summary.contains("segments.out_of_turn," + 2 * runs), summary);
    // Java's and the native ones of its thread nest; the others are of threads of their own.
    String dump = Report.text(result.trace(), "--report=dump");
    List<String> ofMain = new ArrayList<>();
    Set<String> threads = new TreeSet<>();
    for (String line : dump.split("\n")) {
      String[] fields = line.split("\t");
      if (fields.length < 4 || !fields[2].startsWith("segment-")) continue;
      threads.add(fields[1]);
      if (fields[1].equals("main")) ofMain.add(fields[2].substring(8) + " " + fields[3]);
    }
    List<String> pair =
        List.of("begin native", "begin native inner", "end native inner", "end native");
    List<String> nested = new ArrayList<>(List.of("begin java"));
    nested.addAll(pair);
    nested.addAll(pair);
    nested.add("end java");
    assertEquals(nested, ofMain);
    assertEquals(runs, threads.size(), threads.toString());
    assertTrue(!threads.contains(""), threads.toString());
  }

  @Test
  void reportsThatTheAgentHasNotBegun() {
    Jvm.Result alone = jvm().run("programs.Abi", CLIENT, "load", Setup.AGENT.toString());
    assertEquals(
        "loaded=false -1 -1 -1: the jtrace agent is loaded but has not begun\n",
        alone.out(),
        alone.err());
    assertEquals(0, alone.exit());
  }

  /** Code that runs after the end of the JVM gets error codes. */
  @Test
  void callsAfterTheEndReturnAnError() {
    Path trace = Jvm.temporary("end", ".bin");
    Jvm.Result result =
        Jvm.execute(
            List.of(
                "/usr/bin/env",
                "ABI_AT_EXIT=1",
                Setup.java(),
                "-agentpath:" + Setup.AGENT + "=metrics=alloc.bytes,out=" + trace,
                "-cp",
                Setup.property("jtrace.api") + ":" + Setup.property("jtrace.api.programs"),
                "programs.Abi",
                CLIENT,
                "handlers",
                "1"),
            trace);
    assertTrue(result.out().endsWith("after the end=-2 -2 -2 -2 -2 -2 -2\n"), result.out());
    assertEquals(0, result.exit(), result.err());
  }

  /** C and the jar find an agent that is attached and records nothing at once. */
  @Test
  void findsAnAgentThatServes() throws Exception {
    Process process =
        new ProcessBuilder(
                Setup.java(),
                "-cp",
                Setup.property("jtrace.api") + ":" + Setup.property("jtrace.api.programs"),
                "programs.Abi",
                CLIENT,
                "serve")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (var out = process.inputReader()) {
      assertEquals("before=false false", out.readLine());
      Jvm.Result loaded =
          Jvm.execute(
              List.of(
                  Setup.JDK.resolve("bin/jcmd").toString(),
                  Long.toString(process.pid()),
                  "JVMTI.agent_load",
                  Setup.AGENT.toString(),
                  "serve"),
              null);
      assertEquals(0, loaded.exit(), loaded.err());
      process.outputWriter().append('\n').flush();
      assertEquals("unattached=-9", out.readLine());
      assertEquals("after=true true", out.readLine());
      assertEquals("seen=0", out.readLine());
      assertEquals("bytes=0 1016 true", out.readLine());
      assertEquals("idle=!no recording runs -14", out.readLine());
      assertEquals(0, process.waitFor());
    } finally {
      process.destroyForcibly();
    }
  }
}
