package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Metrics by thread and by call path, compared with the known values of the program. */
final class MetricsTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 3_000;
  private static final long ALL_ROUNDS =
      LongStream.range(0, THREADS).map(i -> ROUNDS + i).sum();
  // Bytes of Escaping's objects, with compressed class pointers.
  private static final Map<String, Long> BYTES_OF_A_ROUND = Map.of(
      "Escaping.small()", 120L, "Escaping.big()", 8_016L, "Escaping.leaf()", 24L,
      "Escaping.round()", 16L);
  private static final long ROUND_BYTES = 120 + 8_016 + 24 + 16;

  /** Exact by method and thread, in every compiler and collector. */
  @TestFactory
  Stream<DynamicTest> bytesAreTheSizesOfTheObjects() {
    return Stream.of("-Xint", "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-Xmx64m",
            "-XX:-UseTLAB", "-XX:+UseParallelGC", "-XX:+UseSerialGC")
        .map(flag -> DynamicTest.dynamicTest(flag, () -> {
          Jvm.Result run = escaping(flag, "platform", "record=tree");
          checkMethods(run, flag.equals("-Xint"));
          checkThreads(run);
        }));
  }

  /** The JDK's own counters of virtual threads are -1. */
  @Test
  void virtualThreadsHaveTheirOwnBytes() {
    assumeTrue(Setup.JDK_MAJOR >= 21, "this JDK has no virtual threads");
    for (String flag : new String[] {"-Xint", "-Xmx64m", "-Djdk.virtualThreadScheduler.parallelism=1"}) {
      Jvm.Result run = escaping(flag, "virtual", "record=tree");
      checkMethods(run, flag.equals("-Xint"));
    }
  }

  /** With a clock nodes have both; logs and flat recordings have bytes by thread. */
  @TestFactory
  Stream<DynamicTest> otherRecordsHaveBytesToo() {
    return Stream.of("clock=tsc", "clock=coarse,mode=merged", "record=log", "record=flat",
            "mode=samples")
        .map(options -> DynamicTest.dynamicTest(options, () -> {
          Jvm.Result run = escaping("-Xmx64m", "platform", options);
          checkThreads(run);
          if (options.startsWith("clock")) checkMethods(run, false);
        }));
  }

  /** Executions of bytecodes that allocate, and objects that escape: one of each in each method. */
  @TestFactory
  Stream<DynamicTest> sitesAndObjectsAreCountedByMethod() {
    return Stream.of("-Xint", "-XX:TieredStopAtLevel=1", "-Xmx64m")
        .map(flag -> DynamicTest.dynamicTest(flag, () -> {
          Jvm.Result run = escaping(flag, "platform", "metrics=alloc.sites;alloc.objects");
          BYTES_OF_A_ROUND.keySet().forEach(method ->
              assertEquals(ALL_ROUNDS, baseOf(run, "alloc.sites").get(method), method));
          // The JVM makes some objects of its own, as it does bytes.
          long own = flag.equals("-Xint") ? 0 : 100;
          Map<String, Long> objects = baseOf(run, "alloc.objects");
          BYTES_OF_A_ROUND.keySet().forEach(method -> {
            long more = objects.get(method) - ALL_ROUNDS;
            assertTrue(more >= 0 && more <= own, method + " in " + objects);
          });
          checkMethods(run, flag.equals("-Xint"));
        }));
  }

  private static Map<String, Long> baseOf(Jvm.Result run, String metric) {
    Map<String, Long> base = new TreeMap<>();
    run.report("--report=metrics", "--metric=" + metric).rows()
        .forEach(row -> base.put(row.get("routine"), Long.parseLong(row.get("base"))));
    return base;
  }

  /**
   * S5.6, S5.7: total = sum by thread = sum by method, while threads start and end. The long run:
   * {@code -Djtrace.metric.events=1000000000}.
   */
  @Test
  void nothingIsLostOnManyThreads() {
    String events = System.getProperty("jtrace.metric.events", "20000000");
    Jvm.Result run = ApiTest.jvm().agent("mode=events,metrics=user.orders").run("programs.Orders", events);
    Map<String, String> printed = ApiTest.printed(run);
    long ones = Long.parseLong(printed.get("ones"));
    assertEquals(3 * ones, Long.parseLong(printed.get("total")));
    Map<String, Long> base = new TreeMap<>();
    run.report("--report=metrics", "--metric=user.orders").rows()
        .forEach(row -> base.put(row.get("routine"), Long.parseLong(row.get("base"))));
    assertEquals(ones, base.get("programs.Orders.ones(int)"), base.toString());
    assertEquals(2 * ones, base.get("programs.Orders.twos(int)"), base.toString());
    long byThread = run.report("--report=metrics").rows().stream()
        .filter(row -> row.get("metric").equals("user.orders"))
        .mapToLong(row -> Long.parseLong(row.get("total"))).sum();
    assertEquals(3 * ones, byThread);
  }

  /** Counting allocations does not change the calls. */
  @Test
  void countingAllocationsDoesNotChangeTheCalls() {
    Jvm.Result run = escaping("-Xmx64m", "platform", "record=tree");
    Report tree = run.report("--report=tree", "--aggregate=process");
    long calls = tree.rows().stream().filter(row -> row.get("name").equals("Escaping.round()"))
        .mapToLong(row -> Long.parseLong(row.get("calls"))).sum();
    assertEquals(ALL_ROUNDS, calls);
  }

  private static Jvm.Result escaping(String flag, String kind, String options) {
    Jvm.Result run = new Jvm().arguments(flag)
        .agent("mode=events,metrics=alloc.bytes," + options)
        .run("Escaping", "" + THREADS, "" + ROUNDS, kind);
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  /** In all and by thread: the JVM's own count includes everything that it allocates itself. */
  private static void checkMethods(Jvm.Result run, boolean interpreted) {
    Map<String, Long> base = baseOf(run, "alloc.bytes");
    // Now and then the JVM itself allocates some hundred bytes once, also without an agent. It has
    // no counts for virtual threads.
    long own = Math.max(0, sum(jdkCounts(run)) - ALL_ROUNDS * ROUND_BYTES);
    if (jdkCounts(run).isEmpty() && !interpreted) own = 2_000;
    long all = base.getOrDefault("Escaping.rounds(int)", 0L);
    for (Map.Entry<String, Long> method : BYTES_OF_A_ROUND.entrySet()) {
      long expected = method.getValue() * ALL_ROUNDS;
      long found = base.get(method.getKey());
      assertTrue(found >= expected && found <= expected + own, method + " in " + base);
      all += found;
    }
    if (jdkCounts(run).isEmpty()) return;
    // The JDK's readings surround the rounds: what the JVM allocates in between is the callers'.
    long callers =
        base.entrySet().stream()
            .filter(entry -> entry.getKey().startsWith("Escaping.lambda$main")
                || entry.getKey().startsWith("Escaping.allocatedByTheJdk"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    long beside = sum(jdkCounts(run)) - all;
    assertTrue(beside >= 0 && beside <= callers, beside + " bytes beside " + base);
  }

  private static Map<String, Long> jdkCounts(Jvm.Result run) {
    Map<String, Long> counts = new TreeMap<>();
    run.out().lines().map(line -> line.split(" "))
        .forEach(words -> counts.put(words[0], Long.parseLong(words[1])));
    return counts;
  }

  private static long sum(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** The bytes above those of the rounds are for starting, ending and reading the counts. */
  private static void checkThreads(Jvm.Result run) {
    Map<String, Long> jdk = jdkCounts(run);
    assertEquals(THREADS, jdk.size());
    int seen = 0;
    for (Map<String, String> row : run.report("--report=metrics").rows()) {
      String name = row.get("thread");
      if (!row.get("metric").equals("alloc.bytes") || !jdk.containsKey(name)) continue;
      seen++;
      long more = Long.parseLong(row.get("total")) - jdk.get(name);
      assertTrue(more >= 0 && more < 20_000, name + " has " + more + " more than " + jdk);
    }
    assertEquals(THREADS, seen);
  }

  /** Most of them in compiled code. */
  @Test
  void exceptionsByMethod() {
    Jvm.Result run = new Jvm().agent("mode=events,metrics=exceptions").run("Throws");
    assertEquals("10000\n", run.out(), run.err());
    Report flat = run.report("--report=flat", "--metric=exceptions");
    assertEquals(10_000, flat.sum("exceptions.base", "Throws.half(int)"), flat.rows().toString());
    String summary = Report.text(run.trace(), "--report=summary");
    assertTrue(!summary.contains("does not report: exceptions"), summary);
  }

  /** Probes throw on what passes them: only what the program throws counts, as without probes. */
  @TestFactory
  Stream<DynamicTest> exceptionsOnTheirWayCountOnce() {
    long thrown = exceptionsOfMain(rethrows("-Xint", "mode=samples"));
    assertTrue(thrown >= 50, thrown + " thrown");
    return Stream.of("mode=events -Xint", "mode=merged -Xcomp", "mode=events,clock=tsc -Xcomp",
            "mode=events,blocks=on -Xint", "mode=events,blocks=paths,boundary=costs -Xcomp",
            "mode=events,record=log -Xint")
        .map(way -> DynamicTest.dynamicTest(way, () -> {
          Jvm.Result run = rethrows(way.split(" ")[1], way.split(" ")[0]);
          assertEquals(thrown, exceptionsOfMain(run));
          if (way.contains("record=log")) return;
          Report flat = run.report("--report=flat", "--metric=exceptions");
          for (String method : List.of("bottom(int)", "parse(int[])", "rethrow(int[])",
              "close(int[])", "locked(int[])")) {
            assertEquals(10, flat.sum("exceptions.base", "Rethrows." + method),
                method + " in " + flat.rows());
          }
        }));
  }

  private static Jvm.Result rethrows(String flag, String options) {
    Jvm.Result run = new Jvm().arguments(flag).agent(options + ",metrics=exceptions")
        .run("Rethrows");
    assertEquals("20 caught, 10 closed\n", run.out(), run.err());
    return run;
  }

  private static long exceptionsOfMain(Jvm.Result run) {
    return run.report("--report=metrics").rows().stream()
        .filter(row -> row.get("metric").equals("exceptions") && row.get("thread").equals("main"))
        .mapToLong(row -> Long.parseLong(row.get("total"))).sum();
  }
}
