package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Thread switches (0x11) with every clock and record=, compared with the kernel's counts (S3.5). */
final class SwitchesTest {
  // Switches of the thread before it reports its start, and after it has read its count.
  private static final int AROUND = 30;

  private static Jvm.Result run(String options) {
    Kernel.assumeAllows("switches");
    Jvm.Result run = new Jvm().agent(options + ",codes=+switch").run("Naps");
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  private static List<String> switches(Jvm.Result run) {
    List<String> ops = new ArrayList<>();
    String dump = Report.text(run.trace(), "--report=dump", "--thread=naps");
    for (String line : dump.lines().toList()) {
      String[] fields = line.split("\t");
      if (fields.length > 2 && List.of("on", "off").contains(fields[2])) ops.add(fields[2]);
    }
    return ops;
  }

  private static long counted(Jvm.Result run) {
    String line = run.out().lines().filter(it -> it.startsWith("SWITCHES")).findFirst().get();
    return Long.parseLong(line.split(" ")[1]);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mode=merged",
        "mode=events,record=tree,clock=tsc",
        "mode=events,record=tree,clock=cpu",
        "mode=events,record=tree,clock=coarse",
        "mode=events,record=flat",
        "mode=samples",
        "mode=events,record=log",
        "mode=events,record=log,clock=tsc",
        "mode=events,record=log,clock=coarse"
      })
  void asOftenAsTheKernelCounts(String options) {
    Jvm.Result run = run(options);
    List<String> ops = switches(run);
    long off = ops.stream().filter(op -> op.equals("off")).count();
    assertTrue(counted(run) >= 200, run.out());
    assertTrue(off >= counted(run) - AROUND, off + " of " + counted(run));
    assertTrue(off <= counted(run) + AROUND, off + " of " + counted(run));
    for (int i = 1; i < ops.size(); i++) assertTrue(!ops.get(i).equals(ops.get(i - 1)), "at " + i);
  }

  /** S3.16: base stops while the thread is off, elapsed does not. */
  @Test
  void timesOfALogExcludeWaiting() {
    String nap = "Naps.nap()";
    Report with = run("mode=events,record=log,clock=tsc").report("--report=flat", "--thread=naps");
    Jvm.Result plain = new Jvm().agent("mode=events,record=log,clock=tsc").run("Naps");
    Report without = plain.report("--report=flat", "--thread=naps");
    assertEquals(200, with.sum("calls", nap));
    // Each of the naps takes a millisecond, of which it is on a processor for some microseconds.
    assertTrue(without.sum("base", nap) >= 200_000_000, without.rows().toString());
    assertTrue(with.sum("base", nap) < 100_000_000, with.rows().toString());
  }

  /** Trees have their own times: the records do not change them. */
  @Test
  void timesOfATreeStay() {
    Report with = run("mode=events,record=tree,clock=tsc").report("--report=flat", "--thread=naps");
    assertTrue(with.sum("base", "Naps.nap()") >= 200_000_000, with.rows().toString());
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void withoutTheRequestThereAreNone(Timer timer) {
    assertEquals(List.of(), switches(new Jvm().agent(timer, "mode=merged").run("Naps")));
  }

  /** S3.17: a metric that is known by thread shows 0 of every method, and the report says why. */
  @Test
  void aMetricByThreadSaysHowToRecordItByMethod() {
    Jvm.Result run = new Jvm().agent("mode=events,metrics=switches;alloc.bytes").run("Naps");
    String note =
        "jtrace-post: note: switches is known by thread only (--report=metrics); to record it by "
            + "method: metrics=path.switches";
    assertTrue(flat(run, "switches").err().contains(note), flat(run, "switches").err());
    assertEquals("", flat(run, "alloc.bytes").err());
  }

  private static Jvm.Result flat(Jvm.Result run, String metric) {
    List<String> command = List.of(Setup.POST.toString(), "--report=flat", "--metric=" + metric);
    command = new ArrayList<>(command);
    command.add(run.trace().toString());
    return Jvm.execute(command, run.trace());
  }

  @Test
  void refusedWhereTheKernelRecordsNone() {
    Jvm.Result run =
        new Jvm().launcher(Kernel.without("perf_event_open", Kernel.EPERM))
            .agent("codes=+switch").run("Empty");
    assertEquals(1, run.exit(), run.err());
    assertTrue(
        run.err().contains("codes=+switch: the kernel does not record thread switches"), run.err());
    assertTrue(run.err().contains("seccomp profile allow perf_event_open"), run.err());
  }
}
