package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** boundary=costs: a program is not charged for its waits for the user (S4.2). */
final class UserInputTest {
  /** How long the program is kept waiting, once it waits. */
  private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** A run that got its line after it had waited for {@code waited} nanoseconds. */
  private record Waited(Jvm.Result run, long waited) {
    long own() {
      return run.out().lines().filter(line -> line.startsWith("OWN "))
          .mapToLong(line -> Long.parseLong(line.substring(4).trim())).sum();
    }
  }

  private static List<String> command(String options, Path trace, String way) {
    return List.of(Setup.java(), "-agentpath:" + Setup.AGENT + "=out=" + trace + "," + options,
        "-cp", Setup.classpath(), "StdinReaders", way);
  }

  /** A read of descriptor 0 that waits: the kernel says what each thread does. */
  private static boolean waitsForInput(ProcessHandle process) throws IOException {
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads) {
        if (Files.readString(thread.resolve("syscall")).startsWith("0 0x0 ")) return true;
      }
    } catch (NoSuchFileException e) {
      // It ended meanwhile.
    }
    return false;
  }

  private static ProcessHandle awaitRead(Process process) throws Exception {
    while (process.isAlive()) {
      List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
      all.add(process.toHandle());
      for (ProcessHandle each : all) {
        boolean isJava = each.info().command().orElse("").endsWith("/java");
        if (isJava && waitsForInput(each)) return each;
      }
      Thread.sleep(5);
    }
    throw new AssertionError("ended without a read");
  }

  private static Waited execute(List<String> command, Path trace) throws Exception {
    Path out = Jvm.temporary("stdout", ".txt");
    Path err = Jvm.temporary("stderr", ".txt");
    Process process = new ProcessBuilder(command).redirectOutput(out.toFile())
        .redirectError(err.toFile()).start();
    try (OutputStream in = process.getOutputStream()) {
      awaitRead(process);
      long begin = System.nanoTime();
      TimeUnit.NANOSECONDS.sleep(WAIT_NS);
      long waited = System.nanoTime() - begin;
      in.write("hello\n".getBytes());
      in.flush();
      int exit = process.waitFor();
      return new Waited(
          new Jvm.Result(exit, Files.readString(out), Files.readString(err), trace), waited);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Waited read(String options, String way) throws Exception {
    Path trace = Jvm.temporary("trace", ".bin");
    Waited waited = execute(command(options, trace, way), trace);
    assertEquals(0, waited.run().exit(), waited.run().err());
    assertTrue(waited.run().out().contains("READ hello"), waited.run().out());
    assertTrue(waited.own() >= waited.waited(), waited.run().out());
    return waited;
  }

  private static long inputCalls(Jvm.Result run) {
    return run.report("--report=flat").rows().stream()
        .filter(row -> row.get("cost").equals("user-input"))
        .mapToLong(row -> Long.parseLong(row.get("calls"))).sum();
  }

  /** Its time less the wait is charged, and the read of a file. */
  private static void assertNotCharged(Waited waited, String way) {
    Report flat = waited.run().report("--report=flat", "--metric=outside.ns");
    long charged = flat.sum("outside.ns.cum", "StdinReaders." + way + "()");
    assertTrue(charged <= waited.own() - waited.waited(), way + ": " + charged + " of "
        + waited.own() + ", waited " + waited.waited());
    assertTrue(flat.sum("outside.ns.cum", "StdinReaders.readFile(String)") > 0);
    assertTrue(inputCalls(waited.run()) > 0);
  }

  @TestFactory
  Stream<DynamicTest> waitsAreNotCharged() {
    return Stream.of("stream", "scanner", "reader", "descriptor", "channel", "wrapped")
        .map(way -> DynamicTest.dynamicTest(way,
            () -> assertNotCharged(read("mode=events,boundary=costs", way), way)));
  }

  /** A console needs a terminal: script makes one. */
  @Test
  void consolesAreInput() throws Exception {
    Path trace = Jvm.temporary("trace", ".bin");
    String line = String.join(" ", command("mode=events,boundary=costs", trace, "console"));
    Waited waited = execute(List.of("script", "-qec", line, "/dev/null"), trace);
    assertTrue(waited.run().out().contains("READ hello"), waited.run().out());
    assertNotCharged(waited, "console");
  }

  /** With a clock a wait is time off, whoever reads. */
  @Test
  void withAClockTheyAreTimeOff() throws Exception {
    Waited waited = read("mode=events,boundary=costs,clock=tsc", "reader");
    Report flat = waited.run().report("--report=flat");
    String reader = "StdinReaders.reader()";
    long time = flat.sum("cum", reader);
    assertTrue(time <= waited.own() - waited.waited(), time + " of " + waited.own());
    assertTrue(flat.sum("elapsed", reader) - time >= waited.waited());
  }

  @Test
  void flatCountsThemToo() throws Exception {
    assertTrue(inputCalls(read("mode=events,boundary=costs,record=flat", "scanner").run()) > 0);
  }

  /** Reads of other descriptors are those of any file. */
  @Test
  void filesAreNotInput() throws Exception {
    Waited waited = read("mode=events,boundary=costs", "descriptor");
    for (Map<String, String> row : waited.run().report("--report=tree").rows()) {
      if (row.get("cost").equals("user-input")) assertEquals("1", row.get("calls"));
    }
    assertEquals(1, inputCalls(waited.run()));
  }

  /** In scope the stream has the probes of its methods, and its reads are ordinary native calls. */
  @Test
  void streamsInScopeNeedARule() throws Exception {
    String scope = "mode=events,boundary=costs,include=StdinReaders;java.io.FileInputStream";
    Waited waited = read(scope, "descriptor");
    assertEquals(0, inputCalls(waited.run()));
    Report flat = waited.run().report("--report=flat", "--metric=calls");
    assertTrue(flat.rows().stream().anyMatch(row -> row.get("kind").equals("native")
        && row.get("name").startsWith("java.io.FileInputStream.read")));
  }

  /** boundary=on only counts: a read of the standard input is one of a stream. */
  @Test
  void withoutCostsNothingIsRead() throws Exception {
    assertEquals(0, inputCalls(read("mode=events,boundary=on", "descriptor").run()));
  }

  @Test
  void withoutBoundaryNothingIsRead() throws Exception {
    assertEquals(0, inputCalls(read("mode=events", "descriptor").run()));
  }
}
