package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** stack= and timer=perf:EVENT on a program whose only call path is known. */
final class StackModesTest {
  private static final List<String> MODES = List.of("full", "app", "frame", "appframe", "pc");

  private static Jvm.Result run(Jvm jvm, String... program) {
    Jvm.Result run = jvm.arguments("-Xint").run(program);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  /** Stacks of the main thread, root first, names without origin and module. */
  private static List<List<String>> stacks(Jvm.Result run) {
    List<List<String>> stacks = new ArrayList<>();
    for (Map<String, String> row :
        run.report("--report=samples", "--thread=main*").rows()) {
      List<String> frames = new ArrayList<>();
      for (String frame : row.get("stack").split(" > ")) {
        if (!frame.isEmpty()) frames.add(frame.replaceFirst("^[A-Z]:([^! ]*!)?", ""));
      }
      stacks.add(frames);
    }
    assertTrue(stacks.size() > 30, "only " + stacks.size() + " samples");
    return stacks;
  }

  private static List<String> application(List<String> stack) {
    return stack.stream().filter(frame -> frame.startsWith("Stacks.")).toList();
  }

  private static List<String> last(List<String> stack) {
    return stack.isEmpty() ? stack : stack.subList(stack.size() - 1, stack.size());
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void modesArePartsOfTheFullStack(Timer timer) {
    Set<List<String>> application = new TreeSet<>((a, b) -> a.toString().compareTo(b.toString()));
    String main = "Stacks.main(String[])";
    String outer = "Stacks.outer(String,byte[])";
    application.add(List.of());
    application.add(List.of(main));
    application.add(List.of(main, outer));
    application.add(List.of(main, outer, "Stacks.sort()"));
    application.add(List.of(main, outer, "Stacks.sort()", "Stacks.less(Integer,Integer)"));
    Map<String, Long> bytes = new TreeMap<>();
    for (String mode : MODES) {
      int inApplication = 0;
      Jvm jvm = new Jvm().agent(timer, "mode=samples,interval=1ms,stack=" + mode);
      Jvm.Result run = run(jvm, "Stacks", "sort", "900");
      bytes.put(mode, run.trace().toFile().length());
      for (List<String> stack : stacks(run)) {
        List<String> own = application(stack);
        switch (mode) {
          case "full" -> assertTrue(application.contains(own) && stack.size() > own.size(), mode);
          case "app" -> assertTrue(application.contains(stack), mode + ": " + stack);
          case "appframe" ->
              assertTrue(application.stream().anyMatch(a -> last(a).equals(stack)), "" + stack);
          default -> assertEquals(1, stack.size(), mode + ": " + stack);
        }
        if (!own.isEmpty()) inApplication++;
      }
      // Under -Xint the program counter is in the interpreter.
      if (!mode.equals("pc")) assertTrue(inApplication > 10, mode + ": " + inApplication);
    }
    for (String part : List.of("app", "appframe")) {
      assertTrue(bytes.get(part) < bytes.get("full"), "bytes of traces: " + bytes);
    }
  }

  /** Each timer with one or two of the modes. */
  @Test
  void everyModeMergesOntoTheTree() {
    for (int i = 0; i < MODES.size(); i++) {
      String mode = MODES.get(i);
      Timer timer = Timer.values()[i % Timer.values().length];
      Jvm jvm = new Jvm().agent(timer, "mode=merged,interval=1ms,stack=" + mode);
      Jvm.Result run = run(jvm, "Stacks", "sort", "300");
      Report tree = run.report("--report=tree");
      Report samples = run.report("--report=samples");
      assertEquals(samples.sum("weight"), tree.sum("base_ticks"), mode);
      long sorting = tree.sum("cum_ticks", "Stacks.sort()");
      assertTrue(2 * sorting > tree.sum("cum_ticks", "main"), mode + ": " + sorting);
      String summary = Report.text(run.trace(), "--report=summary");
      assertTrue(summary.contains(" · stack " + mode + " · "), summary);
      assertTrue(summary.contains("bytes a sample on disk"), summary);
    }
  }

  @Test
  void countsPageFaults() {
    Kernel.assumeAllows("page-faults");
    Jvm jvm = new Jvm().agent("mode=samples,stack=appframe,timer=perf:page-faults,interval=5");
    Jvm.Result run = run(jvm, "Touch", "100000");
    // The kernel may map more than one page at a fault, so the number of faults is its own.
    long faults = Long.parseLong(run.out().strip());
    long touched = run.report("--report=functions").rows().stream()
        .filter(row -> row.get("name").startsWith("Touch.touch("))
        .mapToLong(row -> Long.parseLong(row.get("samples")))
        .sum();
    assertTrue(faults > 500, "faults: " + faults);
    assertEquals(faults, 5 * touched, 0.1 * faults, "faults, and those sampled");
  }

  @Test
  void samplesHaveKernelFrames() {
    Kernel.assumeAllows("kernel-frames");
    Jvm.Result run = run(new Jvm().agent(Timer.PERF, "mode=samples"), "Stacks", "read", "500");
    long inKernel = 0;
    for (Map<String, String> row : run.report("--report=samples", "--thread=main*").rows()) {
      String stack = row.get("stack");
      if (stack.matches(".*Stacks\\.read\\(.* > N:libc[^>]*read[^>]*( > K:[^>]*)+")) inKernel++;
    }
    assertTrue(inKernel > 20, "reads sampled in the kernel: " + inKernel);
  }

  private static void assertRefused(Jvm jvm, String available) {
    Jvm.Result run = jvm.agent("timer=perf:cycles").run("Stacks", "sort", "1");
    assertEquals(1, run.exit(), run.err());
    assertTrue(
        run.err().matches("jtrace: .*perf:cycles .*; available: " + available + "\n"), run.err());
  }

  @Test
  void listsTheAvailableEvents() {
    assertRefused(new Jvm().launcher(Kernel.without("perf_event_open", Kernel.EPERM)), "none");
    if (Kernel.allows("cycles")) return;
    assertRefused(new Jvm(), Kernel.allows("cpu-clock") ? ".*\\bcpu-clock\\b.*" : ".*");
  }
}
