package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** hook=: int3 in native functions of a running JVM. */
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
    return run(options, "Hooked", Long.toString(calls), Integer.toString(changes));
  }

  private static Jvm.Result run(String options, String program, String... arguments) {
    List<String> all = new ArrayList<>();
    all.addAll(List.of("programs." + program, NATIVES.toString(), Integer.toString(THREADS)));
    all.addAll(List.of(arguments));
    Jvm.Result run =
        new Jvm()
            .agent(options)
            .classpathOf(API, PROGRAMS)
            .arguments(nativeAccess().toArray(String[]::new))
            .run(all.toArray(String[]::new));
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
  void everyCallIsCountedWhileAnotherHookIsPutInAndRemoved() {
    long each = CALLS / THREADS;
    int changes = 1000;
    Jvm.Result run = hooked("hook=" + ADD + ":count", each, changes);
    long rounds = THREADS * (each / 4);
    String[] words = run.out().strip().split(" ");
    assertEquals("wrong 0 squares", String.join(" ", words[0], words[1], words[2]));
    long squares = Long.parseLong(words[3]);
    assertTrue(squares > rounds, run.out());
    List<Map<String, String>> rows = hooks(run);
    assertEquals(4 * rounds, calls(rows, "natives_add", ""));
    // By caller in Java, also where the JIT has inlined it.
    assertEquals(rounds, calls(rows, "natives_add", "programs.Hooked.left("));
    assertEquals(2 * rounds, calls(rows, "natives_add", "programs.Hooked.right("));
    assertEquals(rounds, calls(rows, "natives_add", "programs.Hooked.work("));
    long met = calls(rows, "natives_square", "programs.Hooked.work(");
    assertTrue(met > 0 && met <= squares, met + " of " + squares);
    // While the hook stays, it misses none.
    assertEquals(changes, calls(rows, "natives_square", "programs.Hooked.counted("));
    for (Map<String, String> row : rows) {
      if (!row.get("hook").endsWith("natives_add")) continue;
      assertTrue(row.get("native").contains("Java_programs_Hooked_add"), row.toString());
    }
    // The same in the trees.
    assertEquals(4 * rounds, run.report("--report=flat").sum("calls", "natives_add"));
  }

  @Test
  void everyHookedCallIsUnwound() {
    // Few enough for the rings, which are emptied as fast as the machine allows.
    int each = 400;
    Jvm.Result run = hooked("interval=10s,hook=" + ADD + ":unwind", each, 0);
    // Every call has a stack, through Java to the thread's start.
    Report tree = run.report("--report=tree", "--merge=none");
    assertEquals(THREADS * each, tree.sum("samples", "natives_add"));
    assertEquals(THREADS * each / 4, tree.sum("samples", "programs.Hooked.left(long)"));
  }

  /** Every call is timed once the agent has seen where calls return to. */
  @Test
  void timesOfHooks() {
    int each = 5000;
    Jvm.Result run = run("hook=" + ADD + ":time", "HookedTimes", Integer.toString(each));
    assertEquals("awaited", run.out().strip());
    long timed = 0;
    for (Map<String, String> row : hooks(run)) {
      if (Long.parseLong(row.get("timed")) == 0) continue;
      long times = Long.parseLong(row.get("timed"));
      long total = Long.parseLong(row.get("total_ns"));
      long min = Long.parseLong(row.get("min_ns"));
      assertTrue(min > 0 && min * times <= total, row.toString());
      assertTrue(total <= times * Long.parseLong(row.get("max_ns")), row.toString());
      assertTrue(times <= Long.parseLong(row.get("calls")), row.toString());
      if (row.get("java").startsWith("programs.HookedTimes.timed(")) timed += times;
    }
    assertEquals(THREADS * each, timed);
  }

  private static final String TARGET = "libhooked_natives.so!natives_target";
  private static final String DIRECT = "libhooked_natives.so!natives_direct";
  private static final String INDIRECT = "libhooked_natives.so!natives_indirect";

  private static Jvm.Result tails(String options, String... arguments) {
    List<String> all = new ArrayList<>(List.of("programs.HookedTails", NATIVES.toString()));
    all.addAll(List.of(arguments));
    Jvm.Result run =
        new Jvm()
            .agent(options)
            .classpathOf(API, PROGRAMS)
            .arguments(nativeAccess().toArray(String[]::new))
            .run(all.toArray(String[]::new));
    assertEquals(0, run.exit(), run.err());
    assertEquals("awaited", run.out().strip());
    return run;
  }

  /** Calls of the target in the program's counted part, by the function that called or jumped. */
  private static Map<String, Long> callersOfTarget(Jvm.Result run) {
    Map<String, Long> callers = new TreeMap<>();
    for (Map<String, String> row : hooks(run)) {
      if (!row.get("hook").equals(TARGET)) continue;
      if (!row.get("java").startsWith("programs.HookedTails.counted(")) continue;
      String caller = row.get("native").replaceFirst(".*!", "");
      assertEquals(
          caller.startsWith("natives_"), row.get("native").contains(" [tail call]!"), row::toString);
      callers.merge(caller, Long.parseLong(row.get("calls")), Long::sum);
    }
    return callers;
  }

  /** A function that ends in a jump is the caller of the one that it jumps to (S2.5, S4.5). */
  @Test
  void aFunctionThatJumpsIsTheCaller() {
    String all = String.format("hook=%s:time;%s:time;%s:", DIRECT, INDIRECT, TARGET);
    for (String kind : List.of("time", "count")) {
      Jvm.Result run = tails(all + kind, "300");
      assertEquals(
          Map.of("natives_direct", 300L, "natives_indirect", 300L), callersOfTarget(run), kind);
      Map<String, Long> parents = parentsInTree(run, "natives_target");
      assertEquals(300, parents.get("programs.HookedTails.counted(int) > natives_direct"), kind);
      assertEquals(300, parents.get("programs.HookedTails.counted(int) > natives_indirect"), kind);
    }
  }

  /** Without times only the call of a function that jumps names it, if it is direct. */
  @Test
  void aDirectCallNamesTheFunctionThatJumps() {
    String hooks = String.format("hook=%s:count;%s:count", DIRECT, TARGET);
    Jvm.Result run = tails(hooks, "300", "at once");
    assertEquals(
        Map.of("natives_direct", 300L, "Java_programs_HookedTails_indirect", 300L),
        callersOfTarget(run));
    Map<String, Long> parents = parentsInTree(run, "natives_target");
    assertEquals(300, parents.get("programs.HookedTails.counted(int) > natives_direct"));
  }

  /** Calls of a function by the last two names above it. */
  private static Map<String, Long> parentsInTree(Jvm.Result run, String function) {
    Map<String, Long> parents = new TreeMap<>();
    List<String> path = new ArrayList<>();
    for (Map<String, String> row : run.report("--report=tree").rows()) {
      int level = Integer.parseInt(row.get("level"));
      while (path.size() > level) path.remove(level);
      if (row.get("name").equals(function) && level > 1) {
        String above = path.get(level - 2) + " > " + path.get(level - 1);
        parents.merge(above, Long.parseLong(row.get("calls")), Long::sum);
      }
      path.add(row.get("name"));
    }
    return parents;
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

  /** The overload that is called, as reports name it: with parameters, separated by commas. */
  private static String mallocOfTheJvm() {
    String more = Setup.JDK_MAJOR < 24 ? "MEMFLAGS, NativeCallStack const&" : "MemTag";
    return "libjvm.so!os::malloc(unsigned long, " + more + ")";
  }

  @Test
  void hooksOneOverloadOfTheJvm() {
    String options = "hook=" + mallocOfTheJvm() + ":count,mode=samples";
    Jvm.Result run = new Jvm().agent(options).run("Empty");
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> rows = hooks(run);
    assertTrue(calls(rows, mallocOfTheJvm().substring("libjvm.so!".length()), "") > 0);
    Jvm.Result vdso = new Jvm().agent("hook=libc.so.6!time").run("Empty");
    assertEquals(1, vdso.exit());
    assertTrue(vdso.err().contains("from the kernel's vdso"), vdso.err());
  }

  /**
   * A separate library counts the same calls in the same run, in another way. It uses the callers
   * to find jtrace's own calls.
   */
  @Test
  void countsOfMallocMatchTheOracle() throws IOException {
    String seconds = System.getenv().getOrDefault("JTRACE_HOOK_SECONDS", "1");
    Path counted = Jvm.temporary("malloc", ".txt");
    Path trace = Jvm.temporary("trace", ".bin");
    List<String> command =
        List.of(
            "env",
            "LD_PRELOAD=" + MALLOC_COUNTER,
            "MALLOC_COUNTER=" + counted,
            Setup.java(),
            "-agentpath:" + Setup.AGENT + "=hook=libc.so.6!malloc:count,out=" + trace,
            "-cp",
            Setup.classpath("h2.jar"),
            "H2W",
            seconds);
    Jvm.Result run = Jvm.execute(command, trace);
    assertEquals(0, run.exit(), run.err());
    String[] counts = Files.readString(counted).strip().split(" ");
    long oracle = Long.parseLong(counts[0]);
    long hooked = calls(hooks(run), "libc.so.6!malloc", "");
    assertTrue(oracle > 10_000, "too few to compare: " + oracle);
    assertTrue(Long.parseLong(counts[1]) > 1000, "the oracle found too few calls of jtrace");
    // Threads inside the oracle while the int3 is put in or removed are counted by one of them.
    assertTrue(Math.abs(oracle - hooked) <= 5, "hook " + hooked + ", oracle " + oracle);
  }

  /** Calls that the agent makes in the program's threads are not the program's. */
  @Test
  void jtracesOwnCallsAreNotCounted() {
    String hooks = "hook=libc.so.6!malloc:count,hook=libstdc++.so.6!_Zn*:count";
    Jvm.Result sleeper = new Jvm().agent(hooks).run("Idle", "4", "300");
    assertNoCallerIsJtrace(sleeper);
    // Events that metrics need, and the program's own queries.
    String metrics = "metrics=alloc.bytes;alloc.objects;live.bytes;exceptions;monitor.wait.ns";
    Jvm.Result asker =
        new Jvm()
            .agent(hooks + "," + metrics)
            .arguments("-Dsecond=" + Jvm.temporary("second", ".bin"))
            .classpathOf(API, PROGRAMS)
            .run("programs.Metrics");
    assertNoCallerIsJtrace(asker);
  }

  private static void assertNoCallerIsJtrace(Jvm.Result run) {
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> rows = hooks(run);
    assertTrue(calls(rows, "libc.so.6!malloc", "") > 0, rows.toString());
    for (Map<String, String> row : rows) {
      String caller = row.get("native");
      assertFalse(
          caller.startsWith("libjtrace") || caller.contains("protobuf") || caller.contains("absl"),
          row.toString());
    }
  }

  /** In a JVM that jtrace attached to. */
  @Test
  void aCommandAddsAndRemovesHooks() {
    try (LiveJvm live = new LiveJvm()) {
      Path trace = live.folder.resolve("hooked.bin");
      live.jtrace("start", "--probes", "out=" + trace);
      assertTrue(live.jtrace("hook").contains("no hooks"));
      assertEquals(
          "count in 1 function: libc.so.6!malloc", live.jtrace("hook", "libc.so.6!malloc").strip());
      LiveJvm.await(() -> !live.jtrace("hook").contains(" 0 calls"));
      Jvm.Result refused = live.tryJtrace("hook", "libc.so.6!memcpy:unwind");
      assertEquals(2, refused.exit());
      assertTrue(refused.err().contains("signal handlers call it"), refused.err());
      String malloc = mallocOfTheJvm();
      assertEquals("count in 1 function: " + malloc, live.jtrace("hook", malloc).strip());
      live.jtrace("hook", malloc + ":off");
      refused = live.tryJtrace("hook", "libc.so.6!mallok");
      assertTrue(refused.err().contains("did you mean 'malloc'"), refused.err());
      live.jtrace("hook", "libc.so.6!malloc:off");
      assertTrue(live.jtrace("hook").contains("no hooks"));
      live.jtrace("stop");
      assertTrue(Report.of(trace, "--report=hooks").sum("calls") > 0);
      assertEquals(2, live.tryJtrace("hook", "libc.so.6!malloc").exit());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A recording of samples has records of compiled code from then on. */
  @Test
  void callersInCompiledCodeHaveNamesInARecordingThatBeganWithoutHooks()
      throws InterruptedException {
    try (LiveJvm live = new LiveJvm()) {
      Path trace = live.folder.resolve("hooked.bin");
      live.jtrace("start", "out=" + trace);
      // Until the JIT has compiled the loop.
      LiveJvm.await(() -> live.askNumber("load") > 10_000_000);
      live.jtrace("hook", "libjvm.so!os::javaTimeNanos()");
      LiveJvm.await(() -> !live.jtrace("hook").contains(" 0 calls"));
      live.jtrace("stop");
      List<Map<String, String>> rows = Report.of(trace, "--report=hooks").rows();
      assertTrue(
          rows.stream().anyMatch(row -> row.get("native").startsWith("Attached.")),
          rows.toString());
    }
  }

  /** Hooks, and breakpoints of a debugger that passes our traps on, in the same threads. */
  @Test
  void gdbAndHooksWorkTogether() throws IOException, InterruptedException {
    Path script = Jvm.temporary("gdb", ".txt");
    Files.writeString(
        script,
        """
        set confirm off
        set pagination off
        handle SIGTRAP nostop noprint pass
        handle SIGSEGV nostop noprint pass
        handle SIGPROF nostop noprint pass
        break natives_square
        ignore 1 50
        continue
        info breakpoints
        delete
        detach
        """);
    Path out = Jvm.temporary("out", ".txt");
    Path trace = Jvm.temporary("trace", ".bin");
    List<String> command = new ArrayList<>(List.of(Setup.java()));
    command.add("-agentpath:" + Setup.AGENT + "=hook=" + ADD + ":count,out=" + trace);
    command.addAll(nativeAccess());
    command.addAll(List.of("-cp", API + ":" + PROGRAMS, "programs.Hooked", NATIVES.toString()));
    command.addAll(List.of("2", "1000000000", "0"));
    Process program =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    try {
      LiveJvm.await(() -> isMapped(program.pid(), "libhooked_natives"));
      Jvm.Result gdb =
          Jvm.execute(
              // With the program's file: without it gdb 13 treats addresses as 32-bit.
              List.of(
                  "gdb",
                  "-batch",
                  Setup.java(),
                  "-p",
                  Long.toString(program.pid()),
                  "-x",
                  script.toString()),
              null);
      assumeFalse(gdb.err().contains("Operation not permitted"), "gdb may not attach here");
      assertTrue(gdb.out().contains("breakpoint already hit 51 times"), gdb.out() + gdb.err());
      assertTrue(program.isAlive(), Files.readString(out));
    } finally {
      program.destroy();
      program.waitFor();
    }
    assertTrue(calls(Report.of(trace, "--report=hooks").rows(), "natives_add", "") > 150);
  }

  private static boolean isMapped(long pid, String library) {
    try {
      return Files.readString(Path.of("/proc/" + pid + "/maps")).contains(library);
    } catch (IOException e) {
      return false;
    }
  }

  /** JDK 25 warns about native methods that are not allowed by an option. */
  private static List<String> nativeAccess() {
    return Setup.JDK_MAJOR < 22 ? List.of() : List.of("--enable-native-access=ALL-UNNAMED");
  }

  /** Threads and processes start and end with hooks in every function that is not refused. */
  @Test
  void programRunsWithHooksInTheWholeCLibrary() {
    Jvm.Result run =
        new Jvm().agent("mode=samples,hook=libc.so.6!*:count").run("ThreadsAndProcesses");
    assertEquals("done", run.out().strip(), run.err());
    assertEquals(0, run.exit(), run.err());
    assertTrue(hooks(run).size() > 1000);
    assertTrue(calls(hooks(run), "libc.so.6!malloc", "") > 0);
  }
}
