package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory that jtrace does not get, and what its writer does when the trace cannot be written. */
final class LittleMemoryTest {
  /** Callbacks of all kinds: classes, threads, exceptions, monitors, objects, the JIT, collections. */
  private static final String OPTIONS =
      "memory=64m,clock=coarse,metrics=exceptions;monitor.wait.ns;alloc.objects;live.bytes,"
          + "codes=+exception;+prepare;+monitor;+wait;+park;+waited;+io";

  private static List<String> command(Path trace, String options, List<String> jvm) {
    List<String> command = new ArrayList<>(List.of(Setup.java()));
    command.addAll(jvm);
    command.add("-agentpath:" + Setup.AGENT + "=out=" + trace + "," + options);
    command.addAll(List.of("-cp", Setup.classpath()));
    return command;
  }

  private static Jvm.Result runWithout(Path trace, int failsOf, int seed, String... program) {
    List<String> command = command(trace, OPTIONS, List.of());
    command.addAll(
        0,
        List.of(
            "env",
            "LD_PRELOAD=" + Setup.property("jtrace.failing.new"),
            "JTRACE_TEST_FAILS_OF=" + failsOf,
            "JTRACE_TEST_SEED=" + seed));
    command.addAll(List.of(program));
    return Jvm.execute(command, trace);
  }

  /** Of each allocation since the writer's start one in so many fails: the program sees nothing. */
  @Test
  void allocationsThatFailDoNotHarmTheProgram() {
    String[][] programs = {{"Events"}, {"ThreadsAndProcesses"}, {"Loaders", "20"}};
    int reported = 0;
    for (String[] program : programs) {
      Jvm.Result plain = new Jvm().run(program);
      for (int failsOf : List.of(20, 300, 3000)) {
        for (int seed = 1; seed <= (Setup.LONG ? 20 : 1); seed++) {
          String run = String.join(" ", program) + " of=" + failsOf + " seed=" + seed;
          Path trace = Jvm.temporary("memory", ".bin");
          Jvm.Result with = runWithout(trace, failsOf, seed, program);
          assertEquals(plain.exit(), with.exit(), run + with.err());
          assertEquals(plain.out(), with.out(), run);
          assertEquals(plain.foreignErrors(), with.foreignErrors(), run);
          boolean stopped = with.err().contains("recording stopped, the program runs on: no memory");
          boolean counted = stopped || Losses.of(trace).get("agent.no_memory").count() > 0;
          if (failsOf == 20) assertTrue(counted, run + with.err());
          if (counted) reported++;
        }
      }
    }
    assertTrue(reported > programs.length);
  }

  /**
   * HotSpot says which thread calls JVMTI. The writer, which it does not know, does not, also when
   * the trace cannot be written any more: then another thread switches the events off.
   */
  @Test
  void theWriterCallsNoJvmti() throws Exception {
    for (String limit : List.of("unlimited", "8")) {
      Path trace = Jvm.temporary("jvmti", ".bin");
      Path log = Jvm.temporary("jvmti", ".txt");
      // The JVM's performance data are a file, which would be limited, too.
      List<String> command =
          command(
              trace,
              "mode=merged",
              List.of("-XX:-UsePerfData", "-XX:TraceJVMTI=all+ioe", "-Xlog:jvmti*=trace"));
      command.addAll(List.of("Idle", "20", "1500"));
      String quoted = "'" + String.join("' '", command) + "'";
      String script = "(ulimit -f " + limit + "; exec " + quoted + " 2>&1) | cat >" + log;
      assertEquals(0, Jvm.execute(List.of("bash", "-c", script), trace).exit());
      String text = Files.readString(log);
      assertFalse(text.contains("[non-attached thread]"), limit);
      int failed = text.indexOf("recording stopped");
      assertEquals(limit.equals("8"), failed >= 0, text.substring(0, Math.min(2000, text.length())));
      if (failed >= 0) {
        assertTrue(text.indexOf("SetEventNotificationMode }", failed) >= 0, "events stay on");
      }
    }
  }
}
