package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Warnings of {@code jtrace start}. */
final class AttachWarningsTest {
  /** HotSpot never compiles them again; a scope without them is not affected. */
  @Test
  void namesLoopsThatRun() {
    try (LiveJvm jvm = new LiveJvm()) {
      String started = jvm.jtrace("start", "out=l.bin", "mode=events");
      assertTrue(started.contains("stays interpreted"), started);
      assertTrue(started.contains("Attached.load"), started);
      jvm.jtrace("stop");
      String summary = Report.text(jvm.folder.resolve("l.bin"), "--report=summary");
      assertTrue(summary.contains("exclude="), summary);
      started = jvm.jtrace("start", "out=n.bin", "mode=events", "exclude=Attached");
      assertFalse(started.contains("interpreted until"), started);
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
  }

  /** A package without its star is the likeliest mistake. */
  @Test
  void reportsAScopeWithoutAClass() {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "--probes", "out=e.bin", "include=com.acme");
      jvm.jtrace("stop");
      String summary = Report.text(jvm.folder.resolve("e.bin"), "--report=summary");
      assertTrue(summary.contains("com.acme.**"), summary);
      assertEquals(0, jvm.end());
    }
  }
}
