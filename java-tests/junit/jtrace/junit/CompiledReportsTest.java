package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Samples alone need no reports of compiled methods: the JVM keeps debug information for each
 * instruction because a flag says so, while the recording lasts.
 */
final class CompiledReportsTest {
  private static Set<String> ops(String options) {
    Jvm.Result run = new Jvm().agent(options).arguments("-Xbatch").run("NotInlined");
    return Report.text(run.trace(), "--report=dump")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\t")[2])
        .collect(Collectors.toSet());
  }

  /** The JVM's own answer. */
  private static boolean flag(LiveJvm jvm) {
    String jcmd = Setup.JDK.resolve("bin/jcmd").toString();
    return Jvm.execute(List.of(jcmd, jvm.pid(), "VM.flags", "-all"), null)
        .out()
        .lines()
        .filter(line -> line.contains(" DebugNonSafepoints "))
        .findFirst()
        .orElseThrow()
        .contains("= true");
  }

  @Test
  void recordsOfCompiledMethodsComeOnRequest() {
    Set<String> plain = ops("mode=samples");
    assertFalse(plain.contains("jit-load") || plain.contains("jit-inlining"), plain.toString());
    assertTrue(plain.contains("dynamic-code"), plain.toString());
    Set<String> asked = ops("mode=samples,codes=+jit");
    assertTrue(asked.containsAll(List.of("jit-load", "jit-inlining")), asked.toString());
    Set<String> half = ops("mode=samples,codes=+0x51/0x1");
    assertTrue(half.contains("jit-load") && !half.contains("jit-inlining"), half.toString());
  }

  @Test
  void callsAloneHaveThemToo() {
    List<String> all = List.of("jit-load", "jit-inlining", "dynamic-code");
    Set<String> events = ops("mode=events");
    assertTrue(events.containsAll(all), events.toString());
    Set<String> refused = ops("mode=events,codes=-0x51");
    assertTrue(all.stream().noneMatch(refused::contains), refused.toString());
  }

  @Test
  void theReportSaysHowToGetThem() {
    Jvm.Result run = new Jvm().agent("mode=samples").run("NotInlined");
    String text = Report.text(run.trace(), "--report=jit");
    assertTrue(text.contains("with mode=samples: codes=+jit"), text);
  }

  @Test
  void theFlagIsSetWhileSamplesAreTaken() {
    try (LiveJvm jvm = new LiveJvm("-XX:+UnlockDiagnosticVMOptions")) {
      assertFalse(flag(jvm));
      jvm.jtrace("start", "out=a.bin", "mode=samples");
      assertTrue(flag(jvm));
      jvm.jtrace("stop");
      assertFalse(flag(jvm));
      jvm.jtrace("start", "out=b.bin", "mode=samples", "codes=-0x51");
      assertFalse(flag(jvm));
      jvm.jtrace("stop");
      jvm.jtrace("start", "out=c.bin", "mode=samples");
      assertTrue(flag(jvm));
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void whatTheUserChoseIsKept() {
    try (LiveJvm jvm =
        new LiveJvm("-XX:+UnlockDiagnosticVMOptions", "-XX:-DebugNonSafepoints")) {
      jvm.jtrace("start", "out=a.bin", "mode=samples");
      assertFalse(flag(jvm));
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
    try (LiveJvm jvm =
        new LiveJvm("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")) {
      jvm.jtrace("start", "out=a.bin", "mode=samples");
      jvm.jtrace("stop");
      assertTrue(flag(jvm));
      assertEquals(0, jvm.end());
    }
  }
}
