package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Messages for a mistyped option and for a file that cannot be written. */
final class OptionsTest {
  private static Jvm.Result run(String options) {
    return Jvm.execute(
        List.of(
            Setup.java(),
            "-agentpath:" + Setup.AGENT + "=" + options,
            "-cp",
            Setup.classpath(),
            "cases.Recursion"),
        Path.of("/dev/null"));
  }

  @Test
  void badOptionPrintsOneLineAndExitsWithOne() {
    Jvm.Result run = run("mode=merged,intervall=1ms");
    assertEquals(1, run.exit());
    assertEquals("", run.out());
    assertEquals(
        "jtrace: unknown option 'intervall'; did you mean 'interval'? (try help)\n", run.err());
  }

  @Test
  void unwritableOutputFailsAtTheStart() {
    Jvm.Result run = run("out=/nonexistent/trace.bin");
    assertEquals(1, run.exit());
    assertEquals("", run.out());
    assertEquals(1, run.err().lines().count(), run.err());
    assertTrue(run.err().contains("choose another file with out=FILE"), run.err());
  }

  @Test
  void helpGoesToStderr() {
    Jvm.Result run = run("help");
    assertEquals(0, run.exit());
    assertEquals("", run.out());
    assertTrue(run.err().contains("mode=merged|events|samples"), run.err());
  }
}
