package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/**
 * A program whose period is the sampling interval: each thread is half of its time in one method.
 * Samples at the end of each interval see it always or never there (S1.10).
 */
final class JitterTest {
  // The handler's own time moves the samples of processor time, so that they pass the half's end in
  // a longer run.
  private static final int FEW = 40;
  private static final int MANY = 100;

  /** The first method's share of a thread: of its samples, and of the time by the program's own clock. */
  private record Share(double sampled, double actual, double samples) {
    boolean isExtreme() {
      return sampled < 0.1 || sampled > 0.9;
    }

    /** Four standard deviations, and what the handler and a busy machine move. */
    boolean isActual() {
      return Math.abs(sampled - actual) < 4 * Math.sqrt(0.25 / samples) + 0.15;
    }
  }

  private static List<Share> shares(
      String clock, int millis, int periods, String options, int threads) {
    Jvm.Result run =
        new Jvm()
            .agent("mode=samples,interval=" + millis + "ms," + options)
            .run("Periodic", clock, "" + millis, "" + periods, "" + threads);
    assertEquals(0, run.exit(), run.err());
    List<Share> shares = new ArrayList<>();
    Map<String, String[]> printed = new HashMap<>();
    run.out().lines().map(line -> line.split(" ")).forEach(line -> printed.put(line[0], line));
    for (int i = 0; i < threads; i++) {
      Report flat = run.report("--report=flat", "--thread=periodic-" + i);
      double first = flat.sum("cum_ticks", "Periodic.first(long)");
      double second = flat.sum("cum_ticks", "Periodic.second(long)");
      assertTrue(first + second >= periods / 2, i + ": " + first + ", " + second);
      String[] times = printed.get("periodic-" + i);
      double inFirst = Double.parseDouble(times[1]);
      double actual = inFirst / (inFirst + Double.parseDouble(times[2]));
      shares.add(new Share(first / (first + second), actual, first + second));
    }
    return shares;
  }

  private static void assertActual(List<Share> shares) {
    assertTrue(shares.stream().allMatch(Share::isActual), shares.toString());
  }

  /**
   * Without random moments: at least so many threads are seen in one method only. A busy machine can
   * delay samples past the method's end, so the next run has periods of twice the length.
   */
  private static void assertExtremes(long least, int millis, IntFunction<List<Share>> run) {
    List<List<Share>> seen = new ArrayList<>();
    do {
      if (seen.size() == 4) fail(seen.toString());
      seen.add(run.apply(millis << seen.size()));
    } while (seen.get(seen.size() - 1).stream().filter(Share::isExtreme).count() < least);
  }

  @Test
  void realTime() {
    int threads = 8;
    // Where a method changes at about the moment of the samples there may be both.
    assertExtremes(
        threads - 3, 30, millis -> shares("wall", millis, FEW, "timer=wall,jitter=off", threads));
    assertActual(shares("wall", 30, MANY, "timer=wall", threads));
  }

  @Test
  void processorTimeByPerfEvents() {
    Kernel.assumeAllows("cpu-clock");
    assertExtremes(
        2, 50, millis -> shares("cpu", millis, FEW, "timer=perf:cpu-clock,jitter=off", 2));
    assertActual(shares("cpu", 20, MANY, "timer=perf:cpu-clock", 2));
    // The usual timer, where perf events cost much, would be a POSIX timer.
    assertActual(shares("cpu", 20, MANY, "jitter=on", 2));
  }

  /** As many samples as intervals, with the same weights. */
  @Test
  void theTotalIsThatOfTheIntervals() {
    Kernel.assumeAllows("cpu-clock");
    for (String jitter : List.of("on", "off")) {
      Jvm.Result run =
          new Jvm()
              .agent("mode=samples,timer=perf:cpu-clock,interval=1ms,jitter=" + jitter)
              .run("Periodic", "cpu", "100", "15", "1");
      assertEquals(0, run.exit(), run.err());
      Report flat = run.report("--report=flat", "--thread=periodic-0");
      long ticks = flat.sum("cum_ticks", "Periodic.run(long,long,long)");
      // 1,475 ms of processor time, of which samples do not see their own. The kernel's clock event
      // also counts what a hypervisor takes, which is less than the real time.
      long real = Long.parseLong(run.out().strip().split(" ")[3]) / 1_000_000;
      String text = jitter + ": " + ticks + " of " + real;
      assertTrue(ticks > 1475 * 0.85 && ticks < real * 1.01, text);
      String mode = Report.text(run.trace(), "--report=summary");
      assertEquals(jitter.equals("on"), mode.contains("jitter on"), mode);
    }
  }

  @Test
  void eventsHaveNoRandomMoments() {
    Jvm.Result run = new Jvm().agent("timer=perf:page-faults,jitter=on").run("Empty");
    assertEquals(1, run.exit());
    assertTrue(run.err().contains("random moments need a clock: timer=cpu"), run.err());
  }
}
