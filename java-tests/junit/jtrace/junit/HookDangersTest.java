package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Hooks where they might do harm: a JVM that crashes, an allocator that is not the C library's, a
 * program with its own handler for traps.
 */
final class HookDangersTest {
  private static final Path NATIVES = Path.of(Setup.property("jtrace.hooked"));
  private static final Path API = Path.of(Setup.property("jtrace.api"));
  private static final Path PROGRAMS = Path.of(Setup.property("jtrace.api.programs"));
  private static final Path OWN_ALLOCATOR = Path.of(Setup.property("jtrace.own.allocator"));

  /** The JVM's crash report calls hooked functions, and installs its own handler for traps. */
  @Test
  void crashReportIsComplete() throws IOException {
    Path report = Jvm.temporary("hs_err", ".log");
    Jvm.Result run =
        new Jvm()
            .agent("hook=libc.so.6!write;libc.so.6!malloc;libjvm.so!os::*")
            .arguments("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + report)
            .run("Crashes");
    assertNotEquals(0, run.exit());
    assertTrue(run.out().contains("up"), run.err());
    String text = Files.readString(report);
    assertTrue(text.contains("SIGSEGV"), text);
    assertTrue(text.endsWith("END.\n"), text);
    assertFalse(text.contains("error occurred during error reporting"), text);
  }

  private static Jvm.Result withOwnAllocator(String function) {
    Path trace = Jvm.temporary("trace", ".bin");
    String agent = "-agentpath:" + Setup.AGENT + "=hook=libown_allocator.so!" + function;
    return Jvm.execute(
        List.of(
            "env",
            "LD_PRELOAD=" + OWN_ALLOCATOR,
            Setup.java(),
            agent + ",out=" + trace,
            "-cp",
            Setup.classpath(),
            "ThreadsAndProcesses"),
        trace);
  }

  /** glibc calls the program's free, whichever it is, with all signals blocked. */
  @Test
  void refusesAHookInAnAllocatorsFree() {
    for (String function : List.of("free", "own_release")) {
      Jvm.Result refused = withOwnAllocator(function);
      assertEquals(1, refused.exit(), refused.err());
      assertTrue(refused.err().contains("all signals are blocked"), refused.err());
    }
    Jvm.Result all = withOwnAllocator("*");
    assertEquals("done", all.out().strip(), all.err());
    List<Map<String, String>> rows = all.report("--report=hooks").rows();
    assertTrue(rows.stream().anyMatch(row -> row.get("hook").endsWith("!malloc")), rows.toString());
    assertFalse(rows.stream().anyMatch(row -> row.get("hook").endsWith("free")), rows.toString());
  }

  private static final int THREADS = 4;
  private static final long CALLS = 50_000;

  /** A program that installs a handler while hooks are there; it must see exactly its own traps. */
  private static Jvm.Result withLateHandlers(String way) {
    String[] arguments =
        Setup.JDK_MAJOR < 22
            ? new String[0]
            : new String[] {"--enable-native-access=ALL-UNNAMED"};
    Jvm.Result run =
        new Jvm()
            .agent("hook=libhooked_natives.so!Java_programs_Hooked_add:count")
            .classpathOf(API, PROGRAMS)
            .arguments(arguments)
            .run(
                "programs.LateHandlers",
                NATIVES.toString(),
                Integer.toString(THREADS),
                Long.toString(CALLS),
                way);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    assertEquals("wrong 0 stray 0 own 3", run.out().strip(), way);
    long calls =
        run.report("--report=hooks").rows().stream()
            .mapToLong(row -> Long.parseLong(row.get("calls")))
            .sum();
    assertEquals(THREADS * CALLS, calls, way);
    return run;
  }

  @Test
  void handlerBySigactionGetsExactlyItsOwnTraps() {
    withLateHandlers("sigaction");
  }

  @Test
  void handlerBySignalGetsExactlyItsOwnTraps() {
    withLateHandlers("signal");
  }

  /** Without native code of the program. */
  @Test
  void handlerInJavaGetsExactlyItsOwnTraps() {
    withLateHandlers("java");
  }

  /** The agent cannot see the system call, but finds the handler within 0.1 s and reports it. */
  @Test
  void handlerByASystemCallIsFoundAndReported() {
    Jvm.Result run = withLateHandlers("system call");
    String losses = Report.text(run.trace(), "--report=summary");
    assertTrue(losses.contains("another handler of SIGTRAP"), losses);
  }
}
