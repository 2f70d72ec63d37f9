package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** live.bytes and freed.bytes of a program that drops what it has counted. */
final class LivesTest {
  // Bytes of an array. Other threads of the JVM allocate less than a quarter of that.
  private static final long SIZE = 10_016;

  private static void assertArrays(long count, String bytes, String what) {
    long more = Long.parseLong(bytes) - count * SIZE;
    assertTrue(Math.abs(more) < SIZE / 4, what + ": " + more + " B more than " + count + " arrays");
  }

  @TestFactory
  Stream<DynamicTest> countsDroppedObjectsAsFreed() {
    Stream<String> usual = Stream.of("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-Xint");
    Stream<String> newer = Setup.JDK_MAJOR >= 21 ? Stream.of("-XX:+UseZGC") : Stream.of();
    return Stream.concat(usual, newer)
        .map(flag -> DynamicTest.dynamicTest(flag, () -> checkLives(flag)));
  }

  private static void checkLives(String flag) {
    Path second = Jvm.temporary("second", ".bin");
    Jvm.Result run = ApiTest.jvm().arguments(flag, "-Xmx400m")
        .agent("mode=events,metrics=alloc.bytes;live.bytes;freed.bytes")
        .run("programs.Lives", second.toString());
    Map<String, String> printed = ApiTest.printed(run);
    assertArrays(2_000, printed.get("own"), "made by the thread");
    assertArrays(2_000, printed.get("allocated"), "made");
    assertArrays(1_300, printed.get("freed"), "dropped");
    assertArrays(-1_300, printed.get("live"), "fewer live");
    assertArrays(1_500, printed.get("freed more"), "dropped at last");
    assertArrays(300, printed.get("allocated later"), "made in the second recording");
    assertArrays(300, printed.get("freed later"), "dropped in the second recording");
    assertEquals("true", printed.get("begins anew"));
    assertEquals("live.bytes is known only for the process: ask JTrace.processTotal",
        printed.get("of a thread"));
    assertEquals("live.bytes is not counted: start with metrics=live.bytes",
        printed.get("stopped"));
    assertEquals(List.of(), run.foreignErrors());
    checkTraces(run.report("--report=metrics"), Long.parseLong(printed.get("freed in all")),
        Report.of(second, "--report=metrics"));
  }

  /** Nothing of the first was collected between the program's last reading and its end. */
  private static void checkTraces(Report first, long freed, Report second) {
    long more = total(first, "freed.bytes") - freed;
    assertTrue(Math.abs(more) < SIZE, "freed in all: " + more + " B more");
    long left = total(first, "live.bytes");
    assertTrue(left >= 500 * SIZE && left < 700 * SIZE, "live at the end: " + left);
    assertTrue(total(second, "freed.bytes") >= 300 * SIZE, "freed in the second recording");
    assertTrue(total(second, "live.bytes") < 300 * SIZE, "live in the second recording");
  }

  private static long total(Report metrics, String name) {
    return metrics.rows().stream().filter(row -> row.get("metric").equals(name))
        .mapToLong(row -> Long.parseLong(row.get("total"))).sum();
  }
}
