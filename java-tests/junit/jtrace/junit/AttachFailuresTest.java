package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Recordings that cannot begin or fail later: the program runs on, and earlier files stay. */
final class AttachFailuresTest {
  /** A failed write ends the recording, not the program; the probes are removed. */
  @Test
  void reportsAFailedWriteAndRemovesTheProbes() throws Exception {
    for (String control : List.of("control=on", "control=off")) {
      try (LiveJvm jvm = new LiveJvm("-agentpath:" + Setup.AGENT + "=out=cut.bin," + control)) {
        jvm.limitFiles(20_000);
        LiveJvm.await(
            () -> {
              jvm.ask("work 1000");
              jvm.ask("gc");
              return jvm.errors().contains("recording stopped");
            });
        if (control.equals("control=off")) {
          LiveJvm.await(() -> jvm.jcmd("stop").contains("return code: 2"));
          assertTrue(jvm.errors().contains("cannot write 'cut.bin'"), jvm.errors());
          assertEquals("worked", jvm.ask("work 1000"));
          continue;
        }
        Jvm.Result stop = jvm.tryJtrace("stop");
        assertEquals(2, stop.exit());
        assertTrue(stop.err().contains("failed: "), stop.err());
        assertTrue(stop.err().contains("cannot write 'cut.bin'"), stop.err());
        String status = jvm.jtrace("status");
        assertTrue(status.contains("idle") && status.contains("cannot write 'cut.bin'"), status);
        Report.text(jvm.folder.resolve("cut.bin"), "--report=summary");  // readable
        jvm.limitFiles(1L << 40);
        AttachTest.checkNoProbes(jvm);
        AttachTest.checkWindow(jvm, "again.bin", 777);
        assertEquals(0, jvm.end());
      }
    }
  }

  @Test
  void aFailedStartKeepsTheFileAndTheOptions() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      AttachTest.checkWindow(jvm, "keep.bin", 300);
      Path kept = jvm.folder.resolve("keep.bin");
      byte[] before = Files.readAllBytes(kept);
      for (String wrong : List.of("log=/nowhere/x.log", "config=" + jvm.folder)) {
        Jvm.Result refused = jvm.tryJtrace("start", "--probes", "out=keep.bin", wrong);
        assertEquals(1, refused.exit(), refused.err());
        assertTrue(refused.err().contains(wrong.substring(wrong.indexOf('=') + 1)), refused.err());
        assertEquals(1, refused.err().lines().count(), refused.err());
      }
      // More metrics of call paths than fit a node: found when the parts are prepared.
      String metrics =
          "metrics=alloc.bytes;alloc.objects;exceptions;user.a;user.b;user.c;user.d;user.e";
      Jvm.Result many = jvm.tryJtrace("start", "--probes", "out=keep.bin", metrics);
      assertEquals(1, many.exit(), many.err());
      assertTrue(many.err().contains("at most 7 metrics"), many.err());
      // Nine kinds of probes are one too many; the agent finds that last.
      List<String> kinds =
          List.of("none", "coarse", "tsc", "cpu", "manual");
      Jvm.Result last = null;
      int made = 0;
      for (String record : List.of("tree", "log")) {
        for (String clock : kinds) {
          last = jvm.tryJtrace("start", "--probes", "out=keep.bin", "record=" + record, "clock=" + clock);
          if (last.exit() != 0) break;
          made++;
          jvm.jtrace("stop");
          before = Files.readAllBytes(kept);
        }
      }
      assertEquals(2, last.exit());
      assertTrue(last.err().contains("too many kinds of probes"), last.err());
      assertTrue(made >= 7, made + " kinds");
      assertArrayEquals(before, Files.readAllBytes(kept));
      assertEquals(2, jvm.tryJtrace("start", "--probes", "out=new.bin", "record=log", "clock=manual").exit());
      assertFalse(Files.exists(jvm.folder.resolve("new.bin")));
      String resumed = jvm.jtrace("resume");
      assertTrue(resumed.contains("keep.") && !resumed.contains("clock=manual"), resumed);
      jvm.jtrace("stop");
      assertEquals(0, jvm.end());
    }
  }

  /** The JVM closes the library of an attach that failed. */
  @Test
  void failedAttachDoesNoHarm() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      for (int i = 0; i < 3; i++) {
        assertTrue(jvm.jcmd("out=/nowhere/x.bin").contains("return code: 2"));
        Thread.sleep(100);
        assertEquals("worked", jvm.ask("work 10"));
      }
      AttachTest.checkWindow(jvm, "after.bin", 1111);
      assertEquals(0, jvm.end());
    }
  }

  /** A second copy of the library is refused; the first goes on undisturbed. */
  @Test
  void secondAgentIsRefused() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      Path copy = jvm.folder.resolve("libjtrace.so");
      Files.copy(Setup.AGENT, copy);
      jvm.jtrace("start", "--probes", "out=first.bin");
      jvm.ask("work 100");
      assertTrue(jvm.jcmd(copy, "start,out=second.bin").contains("return code: 2"));
      assertFalse(Files.exists(jvm.folder.resolve("second.bin")));
      jvm.ask("work 23");
      jvm.jtrace("stop");
      Report flat = Report.of(jvm.folder.resolve("first.bin"), "--report=flat");
      assertEquals(123, flat.sum("calls", AttachTest.STEP));
      assertEquals(0, jvm.end());
    }
    Jvm.Result twice =
        new Jvm()
            .agent("")
            .arguments("-agentpath:" + Setup.AGENT + "=out=/dev/null")
            .run("Attached", "0");
    assertEquals(1, twice.exit());
    assertTrue(twice.err().contains("names jtrace twice"), twice.err());
  }
}
