package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** --report=waits: what threads of known states wait on, with any collector and object layout. */
final class WaitsTest {
  private static final String UNREAD = "waits whose object's class was not read";

  /** How long Blockers keeps its permanently waiting threads, once all of them wait. */
  private static final int MILLIS = 1200;
  private static final int TICK_MILLIS = 10;

  /**
   * What threads do and the class they wait on. `forGood`: the number of threads that wait
   * permanently, so nearly all of their time must have that state; 0: threads that wait again and
   * again, at least 0.3 of whose time must have it.
   */
  private record Expected(String state, String on, int forGood) {
    double leastTicks(long all) {
      return forGood == 0 ? 0.3 * all : 0.97 * forGood * MILLIS / TICK_MILLIS;
    }
  }

  private static final Map<String, Expected> EXPECTED = new TreeMap<>(Map.of(
      "enterer", new Expected("monitor", "Blockers.Gate", 3),
      "waiter", new Expected("object-wait", "Blockers.Mailbox", 3),
      "arrayer", new Expected("object-wait", "java.lang.Object[]", 1),
      "parker", new Expected("parked", "Blockers.Ticket", 3),
      "loafer", new Expected("parked", "", 3),
      "locker",
      new Expected("parked", "java.util.concurrent.locks.ReentrantLock.NonfairSync", 1),
      "sleeper", new Expected("sleeping", "", 1),
      "reader", new Expected("blocked", "", 1),
      "napper", new Expected("object-wait", "Blockers.Mailbox", 0),
      "nodder", new Expected("parked", "Blockers.Ticket", 0)));

  private static Jvm.Result run(String... jvm) {
    Jvm.Result run =
        new Jvm()
            .agent("timer=wall,mode=samples")
            .arguments(jvm)
            .run("Blockers", Integer.toString(MILLIS));
    assertEquals("done\n", run.out(), run.err());
    return run;
  }

  private static long number(Map<String, String> row, String column) {
    return Long.parseLong(row.get(column));
  }

  /** Class names as in source code. */
  private static String dotted(String name) {
    return name.replace('$', '.');
  }

  private static void check(Jvm.Result run, boolean readable) {
    Map<String, Map<String, Long>> ticks = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=samples").rows()) {
      String who = row.get("thread").replaceAll("-\\d+$", "");
      if (!EXPECTED.containsKey(who)) continue;
      String what = row.get("state") + " " + dotted(row.get("on"));
      ticks.computeIfAbsent(who, key -> new TreeMap<>())
          .merge(what, number(row, "weight"), Long::sum);
    }
    EXPECTED.forEach((who, expected) -> {
      Map<String, Long> seen = ticks.get(who);
      long all = seen.values().stream().mapToLong(Long::longValue).sum();
      String what = expected.state() + " " + (readable ? expected.on() : "");
      assertTrue(seen.getOrDefault(what, 0L) >= expected.leastTicks(all), who + ": " + seen);
      // No thread ever waited on another class.
      for (String other : seen.keySet()) {
        String on = other.replaceFirst("^\\S+ ", "");
        if (on.isEmpty() || !other.startsWith(expected.state() + " ")) continue;
        assertEquals(expected.on(), on, who + ": " + seen);
      }
    });
  }

  @Test
  void namesWhatThreadsWaitOn() {
    Jvm.Result run = run();
    check(run, true);
    List<String> gates = new ArrayList<>();
    for (Map<String, String> row : run.report("--report=waits").rows()) {
      if (dotted(row.get("on")).equals("Blockers.Gate")) gates.add(row.toString());
      if (!row.get("site").equals("Blockers.enter()")) continue;
      if (dotted(row.get("on")).equals("Blockers.Gate")) assertEquals("3", row.get("threads"));
    }
    assertEquals(1, gates.size(), gates.toString());
  }

  @Test
  void worksWithEveryCollector() {
    check(run("-XX:+UseSerialGC"), true);
    check(run("-XX:+UseParallelGC", "-XX:-UseCompressedOops"), true);
  }

  @Test
  void worksWithEveryObjectLayout() {
    // JDK 17 can do without narrow class pointers, JDK 24 keeps them in the first word.
    check(run("-XX:+UnlockExperimentalVMOptions",
            Setup.JDK_MAJOR < 24 ? "-XX:-UseCompressedClassPointers" : "-XX:+UseCompactObjectHeaders"),
        true);
  }

  @Test
  void reportsThatZgcHidesTheClasses() {
    Jvm.Result run = run("-XX:+UseZGC");
    check(run, false);
    String summary = Report.text(run.trace(), "--report=summary");
    assertTrue(summary.contains(UNREAD), summary);
  }

  @Test
  void countsManyIdleThreadsWithFewSignals() {
    int threads = 300;
    Jvm.Result run =
        new Jvm().agent("timer=wall,mode=samples,interval=1ms")
            .run("Idle", Integer.toString(threads), "2000");
    assertEquals(0, run.exit(), run.err());
    String[] sums = run.out().strip().split(" ");
    long restedMillis = Long.parseLong(sums[0]);
    long aliveMillis = Long.parseLong(sums[1]);
    long ticks = 0;
    long parked = 0;
    long samples = 0;
    long seen = 0;
    long places = 0;
    for (Map<String, String> row : run.report("--report=waits").rows()) {
      if (!row.get("site").startsWith("Idle.rest(")) continue;
      ticks += number(row, "ticks");
      samples += number(row, "samples");
      seen = Math.max(seen, number(row, "threads"));
      places += number(row, "threads");
      // Before it parks a thread may wait for the JVM.
      if (!row.get("state").equals("parked")) continue;
      parked += number(row, "ticks");
      assertEquals("java.util.concurrent.CountDownLatch", row.get("on"));
    }
    assertTrue(parked >= 0.9 * ticks, parked + " parked of " + ticks);
    // On a busy machine a thread that runs only once may never be seen parked.
    assertTrue(seen >= 0.98 * threads && places >= 0.98 * threads, seen + " threads, " + places);
    // On a busy machine much time passes before all of them rest, and after.
    assertTrue(0.85 * restedMillis <= ticks && ticks <= 1.02 * aliveMillis, ticks + " ticks, " + run.out());
    // A few signals each, and a record a second.
    assertTrue(samples <= 10L * threads + aliveMillis / 1_000, samples + " samples, " + run.out());
  }
}
