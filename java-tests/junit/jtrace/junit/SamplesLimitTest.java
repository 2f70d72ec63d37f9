package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** samples=N ends a recording after N samples, or a few more (S1.11). */
final class SamplesLimitTest {
  private static final int FEW = 100;
  private static final int LIMIT = 300;
  private static final Pattern COUNT = Pattern.compile(" ([0-9,]+) samples, ended by samples=100,");

  private static long samplesIn(Path trace) {
    return Report.of(trace, "--report=samples").rows().size();
  }

  /** The program runs on without the recording; with kernel ticks of 4 ms it has three times as many. */
  @ParameterizedTest
  @ValueSource(strings = {"mode=merged,include=Stacks", "mode=samples", "mode=samples,timer=wall,interval=1ms"})
  void aRecordingEndsAfterSoManySamples(String options) {
    Jvm.Result run =
        new Jvm().agent(options + ",samples=" + FEW).run("Stacks", "sort", "" + 12 * FEW);
    assertEquals(0, run.exit(), run.err());
    assertEquals("done true", run.out().strip());
    Matcher line = COUNT.matcher(String.join("\n", run.agentLines()));
    assertTrue(line.find(), run.err());
    long reported = Long.parseLong(line.group(1).replace(",", ""));
    assertEquals(reported, samplesIn(run.trace()));
    assertTrue(reported >= FEW, run.err());
    String dump = Report.text(run.trace(), "--report=dump");
    assertTrue(dump.contains("\tend\tended by samples=\n"), dump.substring(0, 2000));
    assertTrue(dump.contains(",samples=" + FEW), dump.substring(0, 2000));
    String summary = Report.text(run.trace(), "--report=summary");
    assertTrue(summary.contains(" · ended by samples="), summary);
  }

  @Test
  void withFewerSamplesTheProgramsEndIsTheRecordings() {
    Jvm.Result run = new Jvm().agent("mode=samples,samples=1000000").run("Stacks", "sort", "100");
    assertEquals(0, run.exit(), run.err());
    assertTrue(!run.err().contains("ended by"), run.err());
    String dump = Report.text(run.trace(), "--report=dump");
    assertTrue(dump.contains("\tend\tthe program ended\n"), dump.substring(0, 2000));
  }

  @Test
  void jtraceStartEndsAfterSoManySamplesToo() throws InterruptedException {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "--probes", "out=few.bin", "samples=" + LIMIT);
      LiveJvm.await(() -> !jvm.jtrace("status").contains("recording"));
      Path trace = jvm.folder.resolve("few.bin");
      long samples = samplesIn(trace);
      assertTrue(samples >= LIMIT, "only " + samples);
      // A second's worth of two threads; ten times that is there after five.
      assertTrue(samples < 10 * LIMIT, samples + " samples");
      assertTrue(Report.text(trace, "--report=summary").contains("ended by samples="));
      assertEquals("worked", jvm.ask("work 10"), "the program runs on");
    }
  }
}
