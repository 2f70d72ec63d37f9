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
  // Of an array. The JVM's other threads allocate little things now and then: less than a quarter.
  private static final long SIZE = 10_016;

  private static void assertArrays(long count, String bytes, String what) {
    long more = Long.parseLong(bytes) - count * SIZE;
    assertTrue(Math.abs(more) < SIZE / 4, what + ": " + more + " B more than " + count + " arrays");
  }

  @TestFactory
  Stream<DynamicTest> whatIsDroppedIsFreed() {
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
    Map<String, String> told = ApiTest.told(run);
    assertArrays(2_000, told.get("own"), "made by the thread");
    assertArrays(2_000, told.get("allocated"), "made");
    assertArrays(1_300, told.get("freed"), "dropped");
    assertArrays(-1_300, told.get("live"), "fewer live");
    assertArrays(1_500, told.get("freed more"), "dropped at last");
    assertArrays(300, told.get("allocated later"), "made in the second recording");
    assertArrays(300, told.get("freed later"), "dropped in the second recording, not in the first");
    assertEquals("true", told.get("begins anew"));
    assertEquals("live.bytes is known of the process only: ask JTrace.processTotal",
        told.get("of a thread"));
    assertEquals("nobody counts live.bytes: start with metrics=live.bytes", told.get("stopped"));
    assertEquals(List.of(), run.foreignErrors());
    checkTraces(run.report("--report=metrics"), Long.parseLong(told.get("freed in all")),
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
