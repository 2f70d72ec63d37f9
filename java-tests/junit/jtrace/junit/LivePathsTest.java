package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Freed and live objects by the path that allocated them. The program knows them from a phantom
 * reference to each.
 */
final class LivePathsTest {
  private static final long BYTES = 1_016;
  private static final String METRICS =
      "alloc.bytes;alloc.objects;live.bytes;live.objects;freed.bytes;freed.objects";
  private static final String PROGRAM = "programs.LivePaths.";
  private static final String MAKE = PROGRAM + "make()";

  /** What a path made, and what of it was freed. */
  private record Fate(long made, long freed) {}

  @TestFactory
  Stream<DynamicTest> objectsBelongToThePathThatAllocatedThem() {
    Stream<String> usual = Stream.of("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC",
        "-Xint", "-XX:TieredStopAtLevel=1");
    Stream<String> newer = Setup.JDK_MAJOR >= 21 ? Stream.of("-XX:+UseZGC") : Stream.of();
    return Stream.concat(usual, newer)
        .map(flag -> DynamicTest.dynamicTest(flag, () -> checkPaths(flag, "mode=events")));
  }

  /** Nodes are distinguished by more than their routine. */
  @Test
  void placesOfCallsDoNotMatter() {
    checkPaths("-XX:TieredStopAtLevel=1", "mode=merged,sites=on");
  }

  private static void checkPaths(String flag, String options) {
    Path copy = Jvm.temporary("copy", ".bin");
    Jvm.Result run = ApiTest.jvm().arguments(flag, "-Xmx400m")
        .agent(options + ",metrics=" + METRICS).run("programs.LivePaths", copy.toString());
    Map<String, String> printed = ApiTest.printed(run);
    // While it runs, and at its end: nothing was freed between.
    for (Path trace : new Path[] {copy, run.trace()}) {
      checkFates(trace, fates(printed), ownObjects(flag));
      checkEachPath(trace);
    }
    checkTotals(copy, printed);
    assertEquals(
        "live.bytes by call path is in traces only; ask for the process's total, or dump one",
        printed.get("query of a method"));
    assertEquals("", String.join("\n", run.foreignErrors()));
  }

  /** When C2 is to compile a method, the caller makes the string constants of its class. */
  private static long ownObjects(String flag) {
    return flag.equals("-Xint") || flag.equals("-XX:TieredStopAtLevel=1") ? 0 : 100;
  }

  private static Map<String, Fate> fates(Map<String, String> printed) {
    Map<String, Fate> fates = new TreeMap<>();
    printed.forEach((name, value) -> {
      if (name.contains(" ") || name.equals("first")) return;
      String[] counts = value.split(" ");
      fates.put(name, new Fate(Long.parseLong(counts[0]), Long.parseLong(counts[1])));
    });
    assertEquals(Setup.JDK_MAJOR >= 21 ? 11 : 10, fates.size(), fates.toString());
    assertEquals(new Fate(400, 200), fates.get("evens"));
    assertEquals(new Fate(50, 30), fates.get("ended"));
    return fates;
  }

  private static void assertNear(long expected, long found, long more, String what) {
    assertTrue(found >= expected && found <= expected + more, what + ": " + found);
  }

  /** {@code own}: objects that the JVM may have made itself on each path. */
  private static void checkFates(Path trace, Map<String, Fate> fates, long own) {
    Map<String, Long> freed = byPath(trace, "freed.objects");
    Map<String, Long> live = byPath(trace, "live.objects");
    Map<String, Long> freedBytes = byPath(trace, "freed.bytes");
    Map<String, Long> liveBytes = byPath(trace, "live.bytes");
    fates.forEach((path, fate) -> {
      long remaining = fate.made() - fate.freed();
      assertNear(fate.freed(), sumAt(freed, path), own, path + " freed");
      assertNear(remaining, sumAt(live, path), own, path + " live");
      assertNear(fate.freed() * BYTES, sumAt(freedBytes, path), own * BYTES, path + " freed bytes");
      assertNear(remaining * BYTES, sumAt(liveBytes, path), own * BYTES, path + " live bytes");
    });
    Report flat = Report.of(trace, "--report=flat", "--metric=freed.objects");
    long ofMake = freed.entrySet().stream().filter(it -> it.getKey().endsWith(MAKE))
        .mapToLong(Map.Entry::getValue).sum();
    assertEquals(ofMake, flat.sum("freed.objects.base", MAKE));
  }

  /**
   * Every object that was allocated on a path is live or freed there. Some that the JVM makes once
   * inside of a probe are at the node before or after it.
   */
  private static void checkEachPath(Path trace) {
    Map<String, Long> made = byPath(trace, "alloc.objects");
    Map<String, Long> sum = byPath(trace, "freed.objects");
    byPath(trace, "live.objects").forEach((path, count) -> sum.merge(path, count, Long::sum));
    // What was allocated outside of any method is not all in trees.
    made.keySet().removeIf(path -> !path.contains(";"));
    sum.keySet().removeIf(path -> !path.contains(";"));
    assertEquals(sum(made), sum(sum));
    Map<String, Long> more = new TreeMap<>(sum);
    made.forEach((path, count) -> more.merge(path, -count, Long::sum));
    more.forEach((path, count) -> assertTrue(Math.abs(count) < 100, path + ": " + count));
  }

  /** All paths together have what the process has. */
  private static void checkTotals(Path trace, Map<String, String> printed) {
    for (String unit : new String[] {"objects", "bytes"}) {
      long freed = sum(byPath(trace, "freed." + unit));
      assertEquals(printed.get("freed " + unit + " before"), "" + freed);
      assertEquals(printed.get("freed " + unit + " after"), "" + freed);
      long live = sum(byPath(trace, "live." + unit));
      long before = Long.parseLong(printed.get("live " + unit + " before"));
      long after = Long.parseLong(printed.get("live " + unit + " after"));
      assertTrue(before <= live && live <= after, before + " <= " + live + " <= " + after);
    }
  }

  /**
   * A file has what was freed since it began, and what is live at its end, of all objects of the
   * recording.
   */
  @Test
  void filesHaveWhatWasFreedInThem() {
    Path second = Jvm.temporary("second", ".bin");
    Path pattern = Path.of(Jvm.temporary("files", "") + ".%n.bin");
    Jvm.Result run = ApiTest.jvm().arguments("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        .agent("mode=events,loop=1h,out=" + pattern + ",metrics=" + METRICS)
        .run("programs.LivePaths", second.toString(), "next");
    Map<String, String> printed = ApiTest.printed(run);
    Path first = Path.of(printed.get("first"));
    Map<String, Fate> fates = fates(printed);
    Map<String, Long> live = byPath(first, "live.objects");
    fates.forEach((path, fate) -> assertEquals(fate.made(), sumAt(live, path), path));
    assertTrue(Report.of(first, "--report=metrics").rows().stream()
        .noneMatch(row -> row.get("metric").equals("freed.objects")), "nothing was freed in it");
    checkFates(second, fates, ownObjects("-XX:TieredStopAtLevel=1"));
    long ended = byPath(second, "freed.objects").entrySet().stream()
        .filter(it -> it.getKey().startsWith("[ended threads];") && isAt(it.getKey(), "ended"))
        .mapToLong(Map.Entry::getValue).sum();
    assertEquals(30, ended);
  }

  /** An object's path stays although its node does not; counts by method stay exact. */
  @Test
  void objectsOfPrunedNodesAreCounted() {
    Jvm.Result run = ApiTest.jvm().arguments("-XX:+UseSerialGC", "-Xmx400m")
        .agent("mode=events,memory=16m,metrics=alloc.objects;live.objects;freed.objects")
        .run("programs.ManyPaths", "60000");
    long kept = Long.parseLong(ApiTest.printed(run).get("kept"));
    Map<String, Long> made = byMethod(run.trace(), "alloc.objects");
    Map<String, Long> live = byMethod(run.trace(), "live.objects");
    Map<String, Long> freed = byMethod(run.trace(), "freed.objects");
    assertTrue(made.containsKey("[pruned]"), "nodes were pruned");
    for (String method : new String[] {"drops(int)", "keepsSome(int)", "allocatesLast(int)"}) {
      String name = "programs.ManyPaths." + method;
      long sum = live.getOrDefault(name, 0L) + freed.getOrDefault(name, 0L);
      assertTrue(made.get(name) > 10_000, name + ": " + made);
      assertNear(made.get(name) - 100, sum, 200, name + " of " + made.get(name));
    }
    assertTrue(live.get("programs.ManyPaths.keepsSome(int)") >= kept, kept + " in " + live);
  }

  private static Map<String, Long> byMethod(Path trace, String metric) {
    Map<String, Long> base = new TreeMap<>();
    Report.of(trace, "--report=metrics", "--metric=" + metric).rows()
        .forEach(row -> base.put(row.get("routine"), Long.parseLong(row.get("base"))));
    return base;
  }

  /** Without call trees there is the process's total. */
  @TestFactory
  Stream<DynamicTest> recordsWithoutTreesHaveTotals() {
    return Stream.of("record=flat", "record=log", "mode=samples")
        .map(options -> DynamicTest.dynamicTest(options, () -> {
          Path copy = Jvm.temporary("copy", ".bin");
          Jvm.Result run = ApiTest.jvm().arguments("-XX:+UseSerialGC", "-Xmx400m")
              .agent(options + ",metrics=freed.objects;freed.bytes;live.objects;live.bytes")
              .run("programs.LivePaths", copy.toString());
          Map<String, String> printed = ApiTest.printed(run);
          Map<String, Long> freed = byPath(copy, "freed.objects");
          assertEquals(printed.get("freed objects after"), "" + sum(freed));
          assertEquals(1, freed.size(), freed.toString());
        }));
  }

  /** Base of each path, over all threads: "thread;frame;frame". */
  private static Map<String, Long> byPath(Path trace, String metric) {
    Map<String, Long> values = new LinkedHashMap<>();
    Report.text(trace, "--report=collapsed", "--metric=" + metric).lines().forEach(line -> {
      int space = line.lastIndexOf(' ');
      values.merge(line.substring(0, space), Long.parseLong(line.substring(space + 1)), Long::sum);
    });
    return values;
  }

  private static long sum(Map<String, Long> values) {
    return values.values().stream().mapToLong(Long::longValue).sum();
  }

  private static long sumAt(Map<String, Long> values, String path) {
    return values.entrySet().stream().filter(it -> isAt(it.getKey(), path))
        .mapToLong(Map.Entry::getValue).sum();
  }

  /** "recursive3": make() called in the third of three calls. */
  private static boolean isAt(String frames, String path) {
    if (!frames.endsWith(MAKE)) return false;
    String method = path.replaceAll("[0-9]", "");
    long calls = Stream.of(frames.split(";")).filter(it -> it.startsWith(PROGRAM + method + "("))
        .count();
    String level = path.substring(method.length());
    return calls == (level.isEmpty() ? 1 : Long.parseLong(level));
  }
}
