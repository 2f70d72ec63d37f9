package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** timer=wall: the report must show the known states of threads. */
final class WallTest {
  private static final List<String> STATES =
      List.of("running", "unknown", "monitor", "object-wait", "parked", "sleeping", "waiting",
          "blocked");
  private static final int MILLIS = 2000;
  private static final int TICK_MILLIS = 10;

  private static Jvm.Result run(String options) {
    Jvm.Result run =
        new Jvm().agent("timer=wall," + options).run("States", Integer.toString(MILLIS));
    assertEquals(0, run.exit(), run.err());
    assertEquals("done\n", run.out());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  private static Map<String, Map<String, String>> threads(Jvm.Result run) {
    Map<String, Map<String, String>> threads = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=threads").rows()) {
      threads.put(row.get("thread").replaceAll("#.*", ""), row);
    }
    return threads;
  }

  private static long number(Map<String, String> row, String column) {
    return Long.parseLong(row.get(column));
  }

  /**
   * States begins to count once all threads are in their states, which may take long on a busy
   * machine.
   */
  private static void assertMostly(String state, Map<String, String> row) {
    long all = STATES.stream().mapToLong(name -> number(row, name)).sum();
    assertEquals(number(row, "ticks"), all, row.toString());
    assertTrue(number(row, state) >= 0.97 * MILLIS / TICK_MILLIS, state + " in " + row);
  }

  private static void assertStates(Map<String, Map<String, String>> threads) {
    // The share of the time that it has a processor depends on the machine.
    Map<String, String> spinner = threads.get("spinner");
    assertTrue(number(spinner, "running") >= 0.9 * number(spinner, "ticks"), spinner.toString());
    assertTrue(number(spinner, "ticks") >= MILLIS / TICK_MILLIS, spinner.toString());
    assertMostly("sleeping", threads.get("sleeper"));
    assertMostly("sleeping", threads.get("holder"));
    assertMostly("parked", threads.get("parker"));
    assertMostly("parked", threads.get("taker"));
    assertMostly("object-wait", threads.get("waiter"));
    assertMostly("monitor", threads.get("enterer"));
    assertMostly("blocked", threads.get("reader"));
  }

  @Test
  void showsTheStateOfEachThread() {
    Map<String, Map<String, String>> threads = threads(run("mode=samples"));
    assertStates(threads);
    // An idle thread gets a few signals, and its ticks are one record a second.
    for (String idle : List.of("sleeper", "parker", "waiter", "enterer", "reader")) {
      Map<String, String> row = threads.get(idle);
      assertTrue(5 * number(row, "samples") < number(row, "ticks"), row.toString());
    }
  }

  /** The state is read from the stack; in modes without a stack the handler finds it. */
  @Test
  void showsStatesInEveryStackMode() {
    for (String mode : List.of("app", "frame", "appframe", "pc")) {
      Jvm.Result run = run("mode=samples,stack=" + mode);
      assertStates(threads(run));
      String summary = Report.text(run.trace(), "--report=summary");
      assertTrue(summary.contains("% parked") && summary.contains("% sleeping"), summary);
    }
  }

  @Test
  void placesWaitsInTheCallTree() {
    Jvm.Result run = run("mode=merged,codes=+monitor");
    Report tree = run.report("--report=tree");
    assertTrue(tree.sum("cum_ticks", "States.parkOn()") >= 100, run.err());
    long entered = 0;
    boolean named = false;
    for (Map<String, String> row : run.report("--report=waits").rows()) {
      if (row.get("site").equals("States.enter()")) entered += number(row, "ticks");
      named |= row.get("state").equals("monitor") && row.get("on").equals("java.lang.Object");
      // Before it parks a thread may wait for the JVM.
      if (row.get("site").startsWith("States.takeOn(") && row.get("state").equals("parked")) {
        assertEquals("java.util.concurrent.LinkedBlockingQueue.take()", row.get("call"));
      }
    }
    assertTrue(entered >= 100, "ticks at the monitor: " + entered);
    assertTrue(named, "no monitor's class");
  }

  @Test
  void samplesOnlyTheRequestedThreads() {
    Jvm.Result run = run("mode=samples,threads=park*;spinner;spiner");
    for (Map<String, String> row : run.report("--report=threads").rows()) {
      if (number(row, "ticks") == 0) continue;
      assertTrue(row.get("thread").matches("(parker|spinner)(#.*)?"), row.toString());
    }
    String summary = Report.text(run.trace(), "--report=summary");
    assertTrue(summary.contains("that no thread had: spiner"), summary);
    assertTrue(summary.contains("there were, among others: threads=spinner;"), summary);
  }
}
