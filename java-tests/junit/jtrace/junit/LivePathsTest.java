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
    checkPaths("-XX:+UseSerialGC", "mode=merged,sites=on");
  }

  private static void checkPaths(String flag, String options) {
    Path copy = Jvm.temporary("copy", ".bin");
    Jvm.Result run = ApiTest.jvm().arguments(flag, "-Xmx400m")
        .agent(options + ",metrics=" + METRICS).run("programs.LivePaths", copy.toString());
    Map<String, String> printed = ApiTest.printed(run);
    // While it runs, and at its end: nothing was freed between.
    for (Path trace : new Path[] {copy, run.trace()}) {
      checkFates(trace, fates(printed));
      checkEachPath(trace);
    }
    checkTotals(copy, printed);
    assertEquals("", String.join("\n", run.foreignErrors()));
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

  private static void checkFates(Path trace, Map<String, Fate> fates) {
    Map<String, Long> freed = byPath(trace, "freed.objects");
    Map<String, Long> live = byPath(trace, "live.objects");
    Map<String, Long> freedBytes = byPath(trace, "freed.bytes");
    Map<String, Long> liveBytes = byPath(trace, "live.bytes");
    fates.forEach((path, fate) -> {
      assertEquals(fate.freed(), sumAt(freed, path), path + " freed: " + freed);
      assertEquals(fate.made() - fate.freed(), sumAt(live, path), path + " live: " + live);
      assertEquals(fate.freed() * BYTES, sumAt(freedBytes, path), path);
      assertEquals((fate.made() - fate.freed()) * BYTES, sumAt(liveBytes, path), path);
    });
    Report flat = Report.of(trace, "--report=flat", "--metric=freed.objects");
    assertEquals(fates.values().stream().mapToLong(Fate::freed).sum(),
        flat.sum("freed.objects.base", MAKE));
  }

  /** Every object that was allocated on a path is live or freed there. */
  private static void checkEachPath(Path trace) {
    Map<String, Long> made = byPath(trace, "alloc.objects");
    Map<String, Long> sum = byPath(trace, "freed.objects");
    byPath(trace, "live.objects").forEach((path, count) -> sum.merge(path, count, Long::sum));
    // What was allocated outside of any method is not all in trees.
    made.keySet().removeIf(path -> !path.contains(";"));
    sum.keySet().removeIf(path -> !path.contains(";"));
    assertEquals(made, sum);
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
    Jvm.Result run = ApiTest.jvm().arguments("-XX:+UseSerialGC", "-Xmx400m")
        .agent("mode=events,loop=1h,out=" + pattern + ",metrics=" + METRICS)
        .run("programs.LivePaths", second.toString(), "next");
    Map<String, String> printed = ApiTest.printed(run);
    Path first = Path.of(printed.get("first"));
    Map<String, Fate> fates = fates(printed);
    Map<String, Long> live = byPath(first, "live.objects");
    fates.forEach((path, fate) -> assertEquals(fate.made(), sumAt(live, path), path));
    assertEquals(Map.of(), byPath(first, "freed.objects"));
    checkFates(second, fates);
    long ended = byPath(second, "freed.objects").entrySet().stream()
        .filter(it -> it.getKey().startsWith("[ended threads];") && isAt(it.getKey(), "ended"))
        .mapToLong(Map.Entry::getValue).sum();
    assertEquals(30, ended);
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
