package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which threads others waited for (S4.17): a program in which each wait is for a known thread. */
final class WaitedTest {
  private static final long ROUNDS = 3;
  /** A thread lets others wait for 60 ms, of which they may need some to begin. */
  private static final long LEAST_NS = 20_000_000;

  private static Jvm.Result run;
  private static List<Map<String, String>> rows;

  @BeforeAll
  static void record() {
    run = run("mode=events,include=WaitedFor,codes=+waited", "WaitedFor");
    rows = rows(run);
  }

  private static Jvm.Result run(String options, String program) {
    Jvm.Result result = new Jvm().agent(options).arguments("-Xcheck:jni").run(program);
    assertEquals("done\n", result.out(), result.err());
    assertEquals(List.of(), result.foreignErrors());
    return result;
  }

  /**
   * Without monitors of the JDK and the JVM, which threads want when they start and end, and without
   * the barrier's own lock, which both workers may want at once.
   */
  private static List<Map<String, String>> rows(Jvm.Result result) {
    return result.report("--report=waited").rows().stream()
        .filter(row -> row.get("row").equals("wait"))
        .filter(row -> !row.get("kind").equals("monitor") || row.get("on").startsWith("Waited"))
        .filter(row -> !(isWorker(row) && row.get("on").endsWith("$NonfairSync")))
        .toList();
  }

  private static boolean isWorker(Map<String, String> row) {
    return row.get("waiter").matches("first|second|slowest");
  }

  private static long number(Map<String, String> row, String column) {
    return Long.parseLong(row.get(column));
  }

  /** Of threads whose names begin so: "waited for: kind, how, class, routines" and the waits. */
  private static Map<String, Long> waitsOf(String waiter) {
    Map<String, Long> waits = new TreeMap<>();
    for (Map<String, String> row : rows) {
      if (!row.get("waiter").startsWith(waiter)) continue;
      String what =
          String.join(
              " ", row.get("waited_for").replaceAll("-[0-9]$", ""), row.get("kind"),
              row.get("how"), row.get("on"), row.get("at"), row.get("by"));
      waits.merge(what.strip(), number(row, "waits"), Long::sum);
    }
    return waits;
  }

  private static void assertTime(String waiter, long waits) {
    for (Map<String, String> row : rows) {
      if (!row.get("waiter").equals(waiter)) continue;
      assertTrue(number(row, "time") >= waits * LEAST_NS, row::toString);
      assertTrue(number(row, "longest") >= LEAST_NS, row::toString);
      assertTrue(number(row, "longest") <= number(row, "time"), row::toString);
    }
  }

  /** The last one to arrive unparks one of them, which unparks the other. */
  @Test
  void bothWorkersWaitForTheSlowestAtABarrier() {
    String slowest =
        "slowest park unparked java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
            + " WaitedFor.arrive(CyclicBarrier) WaitedFor.arriveLast(CyclicBarrier)";
    for (String worker : List.of("first", "second")) {
      assertEquals(Map.of(slowest, ROUNDS), waitsOf(worker));
      assertTime(worker, ROUNDS);
    }
  }

  @Test
  void waitersOfALatchWaitForTheLastOneThatCountsItDown() {
    String last =
        "last park unparked java.util.concurrent.CountDownLatch$Sync"
            + " WaitedFor.await(CountDownLatch) WaitedFor.countDown(CountDownLatch)";
    assertEquals(Map.of(last, 3L), waitsOf("latched"));
    assertTime("latched-0", 1);
  }

  @Test
  void whoWantsALockWaitsForItsHolder() {
    String holder =
        "lock-holder park unparked java.util.concurrent.locks.ReentrantLock$NonfairSync"
            + " WaitedFor.acquire(ReentrantLock) WaitedFor.release(ReentrantLock)";
    assertEquals(Map.of(holder, ROUNDS), waitsOf("locker"));
    assertTime("locker-0", 1);
  }

  @Test
  void whoEntersAMonitorWaitsForItsOwner() {
    assertEquals(
        Map.of(
            "monitor-holder monitor owned WaitedFor$Monitor WaitedFor.enter(WaitedFor$Monitor)",
            ROUNDS),
        waitsOf("enterer"));
    assertTime("enterer-0", 1);
  }

  @Test
  void whoJoinsAThreadWaitsForIt() {
    assertEquals(
        Map.of("ending join ended java.lang.Thread WaitedFor.joinIt(Thread)", 1L),
        waitsOf("joiner"));
    assertTime("joiner", 1);
  }

  @Test
  void whoGetsAResultWaitsForTheThreadThatComputesIt() {
    assertEquals(
        Map.of(
            "runner park unparked java.util.concurrent.FutureTask WaitedFor.get(FutureTask)"
                + " WaitedFor.compute(FutureTask)",
            1L),
        waitsOf("getter"));
    assertTime("getter", 1);
  }

  @Test
  void waitsThatNoKnownThreadEndedSayWhy() {
    Map<String, String> expected =
        Map.of(
            "sleepy", "[timed out] park timed-out",
            "parked", "[interrupted] park interrupted",
            "notified", "[notified] wait notified WaitedFor$Box",
            "timed", "[timed out] wait timed-out WaitedFor$Box");
    for (Map.Entry<String, String> it : expected.entrySet()) {
      Map<String, Long> waits = waitsOf(it.getKey());
      assertEquals(1, waits.size(), waits::toString);
      assertTrue(waits.keySet().iterator().next().startsWith(it.getValue()), waits::toString);
    }
  }

  @Test
  void sumsAreThoseOfTheWaits() {
    Map<String, Long> sums = new TreeMap<>();
    Map<String, Long> waits = new TreeMap<>();
    long last = Long.MAX_VALUE;
    for (Map<String, String> row : run.report("--report=waited").rows()) {
      boolean isSum = row.get("row").equals("sum");
      (isSum ? sums : waits).merge(row.get("waited_for"), number(row, "time"), Long::sum);
      if (!isSum) continue;
      assertTrue(number(row, "time") <= last, "most time first");
      last = number(row, "time");
    }
    assertEquals(sums, waits);
  }

  /** The same without any probe; and with trees that have a node for the park. */
  @Test
  void otherWaysOfRecordingHaveTheSameThreads() {
    Map<String, Long> expected = threads(rows);
    for (String options :
        List.of(
            "mode=samples,codes=+waited",
            "mode=events,include=WaitedFor,record=log,codes=+waited;+park",
            "mode=merged,record=flat,codes=+owner;+join;+unpark;+monitor")) {
      assertEquals(expected, threads(rows(run(options, "WaitedFor"))), options);
    }
  }

  /** Waits by the names of waiting threads of the program and of those that they waited for. */
  private static Map<String, Long> threads(List<Map<String, String>> from) {
    Map<String, Long> waits = new TreeMap<>();
    for (Map<String, String> row : from) {
      String waiter = row.get("waiter");
      if (!waiter.matches("first|second|(latched|locker|enterer)-.|joiner|getter|notified|timed")) {
        continue;
      }
      waits.merge(waiter + ": " + row.get("waited_for"), number(row, "waits"), Long::sum);
    }
    return waits;
  }

  @Test
  void nothingIsRecordedWithoutARequest() {
    Jvm.Result plain = run("mode=events,include=WaitedFor,codes=+monitor;+park", "WaitedFor");
    assertEquals(List.of(), rows(plain));
  }

  /** Waits that began before a recording, in an earlier one or in none, are not in it. */
  @Test
  void recordingsOfARunningJvmAreSeparate() {
    try (LiveJvm jvm =
        LiveJvm.of(Setup.classpath(), List.of("WaitedFor", "serve"), "-Xcheck:jni")) {
      jvm.ask("park");
      for (String trace : List.of("first.bin", "second.bin")) {
        jvm.jtrace("start", "out=" + trace, "mode=events", "include=WaitedFor", "codes=+waited");
        jvm.ask("open");
        jvm.ask("latch");
        jvm.ask("park");
        jvm.jtrace("stop");
        Map<String, Long> waits = new TreeMap<>();
        for (Map<String, String> row :
            Report.of(jvm.folder.resolve(trace), "--report=waited").rows()) {
          if (!row.get("on").endsWith("CountDownLatch$Sync")) continue;
          assertEquals("WaitedFor.await(CountDownLatch)", row.get("at"));
          waits.merge(row.get("waiter") + " " + row.get("waited_for"), 1L, Long::sum);
        }
        assertEquals(
            Map.of("latched-0 last", 1L, "latched-1 last", 1L, "latched-2 last", 1L), waits);
        jvm.ask("latch");
      }
      jvm.ask("open");
      assertEquals(0, jvm.end());
    }
  }

  /** A latch that a virtual thread opens; its end is its carrier's work. */
  @Test
  void virtualThreadsAreWaitedFor() {
    assumeTrue(Setup.JDK_MAJOR >= 21);
    Jvm.Result result = run("mode=events,include=Waited*,codes=+waited", "WaitedForVirtual");
    Map<String, String> waited = new TreeMap<>();
    for (Map<String, String> row : rows(result)) {
      waited.merge(row.get("waiter"), row.get("waited_for"), (a, b) -> a + "," + b);
    }
    assertTrue(waited.get("latched").startsWith("opener"), waited::toString);
    assertTrue(waited.get("joiner").startsWith("ForkJoinPool-1-worker-"), waited::toString);
  }
}
