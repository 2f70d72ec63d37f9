package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events that codes= switches (S3.1): known numbers of each, by construction. */
final class EventsTest {
  private static final long THROWN = 5_000;
  private static final long CONTENDED = 20;
  private static final long WAITS = 7;
  private static final long COLLECTIONS = 3;
  private static Jvm.Result run;
  private static List<String[]> dump;

  @BeforeAll
  static void record() {
    run =
        new Jvm()
            .agent("mode=events,codes=+exception;+0x61;+alloc;+prepare")
            .arguments("-Xcheck:jni", "-Xmx256m")
            .run("Events");
    dump = dump(run);
  }

  private static List<String[]> dump(Jvm.Result run) {
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return Report.text(run.trace(), "--report=dump")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\t"))
        .toList();
  }

  private static List<String[]> records(String op, String text) {
    return records(dump, op, text);
  }

  private static List<String[]> records(List<String[]> dump, String op, String text) {
    return dump.stream()
        .filter(fields -> fields.length > 2 && fields[2].equals(op))
        .filter(fields -> List.of(fields).contains(text))
        .toList();
  }

  private static Map<String, String> summary(Jvm.Result run) {
    Map<String, String> facts = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=summary").rows()) {
      facts.put(row.get("key"), row.get("value"));
    }
    return facts;
  }

  @Test
  void exceptionsAreCountedByCallPath() {
    Report flat = run.report("--report=flat");
    // fail() each time, unchecked() every second time through a factory that returns a Failure.
    assertEquals(THROWN + THROWN / 2, flat.sum("calls", "[thrown] Events$Failure"));
    assertEquals(THROWN / 2, flat.sum("calls", "[thrown] java.io.IOException"));
    assertEquals(THROWN, flat.sum("calls", "[caught] Events$Failure"));
    assertEquals(THROWN, flat.sum("calls", "[caught] java.lang.NumberFormatException"));
    // A handler for two classes: their common superclass.
    assertEquals(THROWN, flat.sum("calls", "[caught] java.lang.Throwable"));
    // The rethrow of finally is not an exception event.
    assertEquals(0, flat.sum("calls", "[thrown] java.lang.Throwable"));
    assertEquals(4 * THROWN, flat.sum("calls", "Events.seen()") - CONTENDED);
  }

  @Test
  void contendedMonitors() {
    assertEquals(CONTENDED, records("monitor-contended", "Events$Lock").size());
    List<String[]> ends = records("monitor-entered", "Events$Lock");
    assertEquals(CONTENDED, ends.size());
    assertTrue(ends.stream().allMatch(fields -> fields[1].startsWith("contender")));
  }

  @Test
  void waits() {
    assertEquals(WAITS, records("monitor-wait", "Events$Lock").size());
    assertEquals(WAITS, records("monitor-waited", "Events$Lock").size());
    assertTrue(Long.parseLong(summary(run).get("total.0x61/0x2.ns")) > WAITS * 1_000_000);
  }

  @Test
  void collectionsHaveTheirCause() {
    assertEquals(COLLECTIONS, records("gc-end", "System.gc()").size());
    for (String collector : List.of("Serial", "Parallel", "G1", "Z")) {
      List<String[]> other =
          dump(new Jvm().agent("mode=events").arguments("-XX:+Use" + collector + "GC").run("Events"));
      assertTrue(records(other, "gc-end", "System.gc()").size() >= COLLECTIONS, collector);
      assertEquals(List.of(), records(other, "gc-end", "No GC"), collector);
    }
  }

  @Test
  void samplesAllocations() {
    int samples = records("alloc-sample", "[B").size();
    // 64 MB, a sample for every half on average: 128 ± 6 standard deviations.
    assertTrue(samples > 60 && samples < 200, samples + " samples");
  }

  @Test
  void countsPreparedClasses() {
    assertEquals(1, records("class-prepare", "Events$Failure").size());
  }

  /** All of java.util.concurrent parks in it; the class itself stays out of scope. */
  @Test
  void parksAreCountedByCallPath() {
    Jvm.Result parked = new Jvm().agent("mode=events,codes=+park").run("Events");
    String park = "jdk.internal.misc.Unsafe.park(boolean,long)";
    List<Map<String, String>> rows =
        parked.report("--report=arcflow").rows().stream()
            .filter(row -> row.get("self").equals(park) && row.get("row").equals("parent"))
            .filter(row -> row.get("name").equals("Events.main(String[])"))
            .toList();
    assertEquals(1, rows.size());
    assertEquals("11", rows.get(0).get("calls"));
  }

  /** Probes around other calls that leave the scope are off. */
  @Test
  void parksAreCountedWhereTheClassIsInScope() {
    Jvm.Result parked =
        new Jvm()
            .agent("mode=events,codes=+park,include=Events;java.util.concurrent.locks.**")
            .run("Events");
    String park = "jdk.internal.misc.Unsafe.park(boolean,long)";
    long calls =
        parked.report("--report=arcflow").rows().stream()
            .filter(row -> row.get("self").equals(park) && row.get("row").equals("parent"))
            .filter(row -> row.get("name").contains("LockSupport.parkNanos("))
            .mapToLong(row -> Long.parseLong(row.get("calls")))
            .sum();
    assertTrue(calls >= 11, calls + " parks");
  }

  /**
   * Each sample is an interrupt by jtrace itself: begin and end. With timer=wall there are also
   * samples of idle threads, which are not interrupted.
   */
  @ParameterizedTest
  @EnumSource(Timer.class)
  void handlersAreInterrupts(Timer timer) {
    Jvm.Result sampled =
        new Jvm().agent(timer, "mode=merged,codes=+interrupt,interval=1ms").run("Events");
    List<String[]> lines = dump(sampled);
    long begins = lines.stream().filter(f -> f.length > 2 && f[2].equals("interrupt-begin")).count();
    long ends = lines.stream().filter(f -> f.length > 2 && f[2].equals("interrupt-end")).count();
    long samples = lines.stream().filter(f -> f.length > 2 && f[2].startsWith("sample")).count();
    assertTrue(samples > 10);
    assertEquals(begins, ends);
    if (timer == Timer.WALL) {
      assertTrue(begins > 10 && begins <= samples, begins + " of " + samples);
    } else {
      assertEquals(samples, begins);
    }
  }

  @Test
  void optionalEventsAreOffByDefault() {
    Jvm.Result plain = new Jvm().agent("mode=events").run("Events");
    for (String[] fields : dump(plain)) {
      if (fields.length < 3) continue;
      assertFalse(
          List.of("monitor-contended", "monitor-wait", "alloc-sample", "class-prepare")
              .contains(fields[2]),
          fields[2]);
    }
    Report flat = plain.report("--report=flat");
    assertEquals(0, flat.sum("calls", "[thrown] Events$Failure"));
    assertEquals(4 * THROWN + CONTENDED, flat.sum("calls", "Events.seen()"));
  }

  @Test
  void withoutCountersTheMissingCauseIsReportedOnce() {
    Jvm.Result blind =
        new Jvm().agent("mode=events").arguments("-XX:-UsePerfData").run("Events");
    assertEquals("1", summary(blind).get("loss.gc.no_cause"));
  }

  @Test
  void collectionsCanBeSwitchedOff() {
    Jvm.Result quiet = new Jvm().agent("mode=events,codes=-gc").run("Events");
    assertTrue(dump(quiet).stream().noneMatch(f -> f.length > 2 && f[2].equals("gc-begin")));
  }

  @Test
  void unknownCodesAreRefused() {
    Jvm.Result refused = new Jvm().agent("codes=+monitr").run("Events");
    assertEquals(1, refused.exit());
    assertTrue(refused.err().contains("did you mean monitor?"), refused.err());
  }
}
