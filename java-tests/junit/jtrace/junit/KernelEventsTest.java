package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The kernel's events of a thread, charged to call paths (S5.5). */
final class KernelEventsTest {
  private static Jvm.Result run(String metric, String... program) {
    Jvm.Result run =
        new Jvm().agent("mode=events,include=" + program[0] + ",metrics=" + metric).run(program);
    assertEquals(0, run.exit(), run.err());
    return run;
  }

  private static long base(Jvm.Result run, String metric, String method) {
    return run.report("--report=tree", "--metric=" + metric).sum(metric + ".base", method);
  }

  /** The kernel's own count of the same thread, before and after the method. */
  @Test
  void everyPageFaultIsChargedToItsMethod() {
    Kernel.assumeAllows("page-faults");
    Jvm.Result run = run("path.page.faults", "Touch", "5000");
    long expected = Long.parseLong(run.out().trim());
    assertTrue(expected > 1000, run.out());
    long charged = base(run, "path.page.faults", "Touch.touch(MappedByteBuffer,int)");
    // The program's own two readings of the count, and the agent's handler, may have faults as well.
    assertEquals(expected, charged, 25.0);
  }

  /** A signal at every fourth switch makes one more. */
  @Test
  void switchesAreChargedToWhoGaveTheProcessorUp() {
    Kernel.assumeAllows("context-switches");
    Jvm.Result run = run("path.switches", "Sleeps", "400");
    long sleeping = base(run, "path.switches", "Sleeps.sleepOften(int)");
    assertTrue(sleeping >= 300 && sleeping <= 1200, "sleeping: " + sleeping);
    assertEquals(0, sleeping % 4);
    long rest = base(run, "path.switches", "Sleeps.compute(int)");
    assertTrue(rest <= sleeping, "computing: " + rest);
  }

  @Test
  void whatTheProcessorDoesNotCountIsRefusedWithAReason() {
    Jvm.Result run = run("path.cycles", "Sleeps", "20");
    String summary = Report.text(run.trace(), "--report=summary");
    if (!Kernel.allows("cycles")) {
      assertTrue(summary.contains("metric that needs the kernel's events: path.cycles"), summary);
      assertTrue(
          summary.contains("cycles: this processor or kernel does not count them")
              || summary.contains("perf_event"),
          summary);
    } else {
      assertTrue(base(run, "path.cycles", "Sleeps.compute(int)") > 0, summary);
    }
  }

  private static long perfEvents(LiveJvm jvm) throws IOException {
    long count = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc", jvm.pid(), "fd"))) {
      for (Path file : files) {
        try {
          if (Files.readSymbolicLink(file).toString().contains("perf_event")) count++;
        } catch (NoSuchFileException closedMeanwhile) {
          continue;
        }
      }
    }
    return count;
  }

  @Test
  void descriptorsEndWithTheirThreads() throws Exception {
    Kernel.assumeAllows("page-faults");
    try (LiveJvm jvm = new LiveJvm(0)) {
      jvm.jtrace(
          "start", "mode=events", "out=e.bin", "include=Attached", "metrics=path.page.faults");
      jvm.ask("work 1");
      long before = perfEvents(jvm);
      assertTrue(before > 0, "no events");
      jvm.ask("threads 30");
      assertTrue(perfEvents(jvm) <= before + 3, before + " " + perfEvents(jvm));
      jvm.jtrace("stop");
      assertEquals(0, perfEvents(jvm));
      assertEquals("worked", jvm.ask("work 7"));
      assertEquals(0, jvm.end());
    }
  }
}
