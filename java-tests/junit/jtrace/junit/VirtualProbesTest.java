package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Probes in the JDK's own code of virtual threads, parts of which run on two threads. */
final class VirtualProbesTest {
  private static final int THREADS = 200;
  private static final int YIELDS = 20;
  private static final String[] PROGRAM = {"VirtualYields", "" + THREADS, "" + YIELDS};
  private static final String MOUNTS =
      "java.lang.VirtualThread::mount;java.lang.VirtualThread::unmount";

  @BeforeEach
  void needsVirtualThreads() {
    assumeTrue(Setup.JDK_MAJOR >= 21);
  }

  /** Each way of recording that has trees or logs, and samples beside them. */
  @Test
  void countsBothThreadsFromTheStart() {
    for (String how : List.of("mode=merged", "mode=events,clock=coarse", "mode=events,record=log")) {
      Jvm.Result run =
          new Jvm().agent("include=java.**;jdk.internal.vm.**," + how).run(PROGRAM);
      assertEquals(0, run.exit(), how + run.err());
      assertEquals("joined\n", run.out(), how);
      assertEquals(List.of(), run.foreignErrors(), how);
      checkCounts(run.trace(), 1);
      Losses.Loss loss = Losses.of(run.trace()).get("method.changes-thread");
      assertTrue(loss.count() >= 4 && loss.what().contains("VirtualThread."), how + loss);
    }
  }

  @Test
  void methodsThatChangeTheThreadGetNoProbe() {
    Jvm.Result run = new Jvm().agent("mode=events,include=" + MOUNTS).run(PROGRAM);
    assertEquals(0, run.exit(), run.err());
    assertEquals("joined\n", run.out());
    Losses losses = Losses.of(run.trace());
    assertEquals(2, losses.get("method.changes-thread").count());
    assertEquals(Set.of("java.lang.VirtualThread"), losses.classes().get("class.no_method_fits"));
  }

  @Test
  void countsBothThreadsInARunningProgram() throws Exception {
    try (LiveJvm jvm =
        LiveJvm.of(Setup.classpath(), List.of(PROGRAM[0], PROGRAM[1], PROGRAM[2], "asked"))) {
      assertEquals("joined", jvm.ask("go"));
      jvm.jtrace("start", "--probes", "out=v.bin", "include=java.**", "probebudget=100%");
      for (int i = 0; i < 3; i++) assertEquals("joined", jvm.ask("go"));
      jvm.jtrace("stop");
      assertEquals("joined", jvm.ask("go"));
      checkCounts(jvm.folder.resolve("v.bin"), 3);
      assertEquals(0, jvm.end());
    }
  }

  private static void checkCounts(Path trace, int runs) {
    Report flat = Report.of(trace, "--report=flat");
    assertEquals(runs * THREADS * YIELDS, flat.sum("calls", "java.util.BitSet.flip(int)"));
    assertEquals(runs * THREADS, flat.sum("calls", "java.util.StringTokenizer.nextToken()"));
  }
}
