package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
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

  /** Shares of the first method, by thread. */
  private static List<Double> shares(
      String clock, int millis, int periods, String options, int threads) {
    Jvm.Result run =
        new Jvm()
            .agent("mode=samples,interval=" + millis + "ms," + options)
            .run("Periodic", clock, "" + millis, "" + periods, "" + threads);
    assertEquals(0, run.exit(), run.err());
    List<Double> shares = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Report flat = run.report("--report=flat", "--thread=periodic-" + i);
      double first = flat.sum("cum_ticks", "Periodic.first(long)");
      double second = flat.sum("cum_ticks", "Periodic.second(long)");
      assertTrue(first + second >= periods / 2, i + ": " + first + ", " + second);
      shares.add(first / (first + second));
    }
    return shares;
  }

  private static void assertHalves(List<Double> shares) {
    for (double share : shares) assertTrue(share > 0.15 && share < 0.85, shares.toString());
  }

  private static long extremes(List<Double> shares) {
    return shares.stream().filter(share -> share < 0.1 || share > 0.9).count();
  }

  /**
   * Without random moments: at least so many threads are seen in one method only. A busy machine can
   * delay the samples of a run past the method's end, so one of three runs is enough.
   */
  private static void assertExtremes(long least, Supplier<List<Double>> run) {
    List<List<Double>> seen = new ArrayList<>();
    do {
      if (seen.size() == 3) fail(seen.toString());
      seen.add(run.get());
    } while (extremes(seen.get(seen.size() - 1)) < least);
  }

  @Test
  void realTime() {
    int threads = 8;
    // Where a method changes at about the moment of the samples there may be both.
    assertExtremes(threads - 3, () -> shares("wall", 30, FEW, "timer=wall,jitter=off", threads));
    assertHalves(shares("wall", 30, MANY, "timer=wall", threads));
  }

  @Test
  void processorTimeByPerfEvents() {
    Kernel.assumeAllows("cpu-clock");
    assertExtremes(2, () -> shares("cpu", 50, FEW, "timer=perf:cpu-clock,jitter=off", 2));
    assertHalves(shares("cpu", 20, MANY, "timer=perf:cpu-clock", 2));
    // The usual timer, where perf events cost much, would be a POSIX timer.
    assertHalves(shares("cpu", 20, MANY, "jitter=on", 2));
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
      // 1,475 ms of processor time, of which samples do not see their own.
      assertTrue(ticks > 1475 * 0.85 && ticks < 1475 * 1.01, jitter + ": " + ticks);
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
