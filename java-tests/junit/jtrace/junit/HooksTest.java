package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** hook=: int3 in native functions of a JVM that runs. */
final class HooksTest {
  private static final Path NATIVES = Path.of(Setup.property("jtrace.hooked"));
  private static final Path MALLOC_COUNTER = Path.of(Setup.property("jtrace.malloc.counter"));
  private static final Path API = Path.of(Setup.property("jtrace.api"));
  private static final Path PROGRAMS = Path.of(Setup.property("jtrace.api.programs"));
  private static final String ADD = "libhooked_natives.so!natives_add";
  private static final int THREADS = 8;

  /** 10^7 by hand: JTRACE_HOOK_CALLS=10000000. */
  private static final long CALLS =
      Long.parseLong(System.getenv().getOrDefault("JTRACE_HOOK_CALLS", "800000"));

  private static Jvm.Result hooked(String options, long calls, int changes) {
    Jvm.Result run =
        new Jvm()
            .agent(options)
            .classpathOf(API, PROGRAMS)
            .run(
                "programs.Hooked",
                NATIVES.toString(),
                Integer.toString(THREADS),
                Long.toString(calls),
                Integer.toString(changes));
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  private static List<Map<String, String>> hooks(Jvm.Result run) {
    return run.report("--report=hooks").rows();
  }

  private static long calls(List<Map<String, String>> rows, String hook, String java) {
    return rows.stream()
        .filter(row -> row.get("hook").endsWith(hook) && row.get("java").startsWith(java))
        .mapToLong(row -> Long.parseLong(row.get("calls")))
        .sum();
  }

  @Test
  void everyCallIsCountedWhileAnotherHookComesAndGoes() {
    long each = CALLS / THREADS;
    Jvm.Result run = hooked("hook=" + ADD + ":count", each, 1000);
    long rounds = THREADS * (each / 4);
    assertEquals("wrong 0 squares " + rounds, run.out().strip());
    List<Map<String, String>> rows = hooks(run);
    assertEquals(4 * rounds, calls(rows, "natives_add", ""));
    // By caller in Java, wherever the JIT has inlined it to.
    assertEquals(rounds, calls(rows, "natives_add", "programs.Hooked.left("));
    assertEquals(2 * rounds, calls(rows, "natives_add", "programs.Hooked.right("));
    assertEquals(rounds, calls(rows, "natives_add", "programs.Hooked.work("));
    assertTrue(calls(rows, "natives_square", "") <= rounds);
    for (Map<String, String> row : rows) {
      if (!row.get("hook").endsWith("natives_add")) continue;
      assertTrue(row.get("native").contains("Java_programs_Hooked_add"), row.toString());
    }
    // The same in the trees.
    assertEquals(4 * rounds, run.report("--report=flat").sum("calls", "natives_add"));
  }

  @Test
  void unwindsAndTimesOfHooks() {
    Jvm.Result run = hooked("interval=10s,hook=" + ADD + ":unwind", 4000, 0);
    // Every call has a stack, through Java to the thread's begin.
    Report tree = run.report("--report=tree", "--merge=none");
    assertEquals(THREADS * 4000, tree.sum("samples", "natives_add"));
    assertEquals(THREADS * 1000, tree.sum("samples", "programs.Hooked.left(long)"));
    run = hooked("hook=" + ADD + ":time", 40_000, 0);
    long timed = run.report("--report=hooks").sum("timed");
    assertTrue(timed > 0 && timed <= THREADS * 40_000, hooks(run).toString());
  }

  @Test
  void errorsNameTheRemedy() {
    Jvm.Result wrong = new Jvm().agent("hook=libc.so.6!mallok").run("Empty");
    assertEquals(1, wrong.exit());
    assertTrue(wrong.err().contains("did you mean 'malloc'"), wrong.err());
    wrong = new Jvm().agent("mode=events,hook=libc.so.6!malloc").run("Empty");
    assertTrue(wrong.err().contains("use mode=merged or samples"), wrong.err());
    Jvm.Result later = new Jvm().agent("hook=libnever.so!f").run("Empty");
    assertEquals(0, later.exit(), later.err());
    assertTrue(
        Report.text(later.trace(), "--report=summary").contains("libnever.so"), later.err());
  }

  /** The same program with malloc counted by a library of its own; both vary from run to run. */
  @Test
  void mallocOfADatabase() throws IOException {
    String seconds = System.getenv().getOrDefault("JTRACE_HOOK_ROUNDS", "3");
    List<Long> oracle = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Path counted = Jvm.temporary("malloc", ".txt");
      List<String> command = List.of("env", "LD_PRELOAD=" + MALLOC_COUNTER, "MALLOC_COUNTER=" + counted,
          Setup.java(), "-agentpath:" + Setup.AGENT + "=mode=samples,out=" + Jvm.temporary("t", ".bin"),
          "-cp", Setup.classpath("h2.jar"), "H2W", seconds);
      Jvm.Result run = Jvm.execute(command, null);
      assertEquals(0, run.exit(), run.err());
      oracle.add(Long.parseLong(Files.readString(counted).strip()));
    }
    Jvm.Result run =
        new Jvm()
            .agent("mode=samples,hook=libc.so.6!malloc:count")
            .classpath("h2.jar")
            .run("H2W", seconds);
    assertEquals(0, run.exit(), run.err());
    long counted = calls(hooks(run), "malloc", "");
    assertNotEquals(0, counted);
    System.out.println("malloc: hook " + counted + " oracle " + oracle);
  }
}
