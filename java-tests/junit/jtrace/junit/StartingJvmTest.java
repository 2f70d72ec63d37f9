package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A JVM accepts an attach before it is live: the agent waits for that. */
final class StartingJvmTest {
  private static final int ROUNDS = Setup.LONG ? 10 : 2;

  @Test
  void anAttachDuringTheStartWaits() throws Exception {
    boolean wasStarting = false;
    for (int round = 0; round < ROUNDS; round++) {
      Path folder = Files.createTempDirectory("jtrace-starting");
      Path err = folder.resolve("stderr.txt");
      // -Xcomp makes the start long.
      Process jvm = attached(folder, "-Xcomp").redirectError(err.toFile()).start();
      try {
        BufferedReader out = jvm.inputReader();
        Jvm.Result start;
        boolean isMainReached;
        do {
          isMainReached = out.ready();
          start = jtrace("start", jvm.pid(), "mode=samples", "out=s.bin");
        } while (isTooEarly(start) && jvm.isAlive());
        wasStarting |= !isMainReached;
        assertEquals(0, start.exit(), start.err() + Files.readString(err));
        assertEquals("ready", out.readLine());
        Jvm.Result stop = jtrace("stop", jvm.pid());
        assertEquals(0, stop.exit(), stop.err());
        assertTrue(Files.size(folder.resolve("s.bin")) > 0);
      } finally {
        jvm.destroyForcibly().waitFor();
      }
    }
    assertTrue(wasStarting, "each attach came after main had begun");
  }

  /** A JVM that deletes the socket that it made at the first request makes another. */
  @Test
  void aDeletedSocketIsMadeAgain() throws Exception {
    Path folder = Files.createTempDirectory("jtrace-late");
    ProcessBuilder builder = attached(folder).redirectError(folder.resolve("stderr.txt").toFile());
    String lateStart = Setup.property("jtrace.late.start");
    assertTrue(Files.exists(Path.of(lateStart)), lateStart);
    builder.environment().put("LD_PRELOAD", lateStart);
    Process jvm = builder.start();
    try {
      Jvm.Result start;
      do {
        start = jtrace("start", jvm.pid(), "mode=samples", "out=s.bin");
      } while (isTooEarly(start) && jvm.isAlive());
      assertEquals(0, start.exit(), start.err());
      // Nothing before it: no list of threads.
      assertEquals("ready", jvm.inputReader().readLine());
    } finally {
      jvm.destroyForcibly().waitFor();
    }
  }

  private static ProcessBuilder attached(Path folder, String... options) {
    List<String> command = new ArrayList<>(List.of(Setup.java()));
    command.addAll(List.of(options));
    command.addAll(
        List.of("-XX:+EnableDynamicAgentLoading", "-cp", Setup.classpath(), "Attached", "1"));
    return new ProcessBuilder(command).directory(folder.toFile());
  }

  /** Until the JVM has signal handlers there is nothing to attach to. */
  private static boolean isTooEarly(Jvm.Result start) {
    return start.err().contains("just starting") || start.err().contains("is not a JVM");
  }

  private static Jvm.Result jtrace(String verb, long pid, String... rest) {
    List<String> command =
        new ArrayList<>(List.of(Setup.COMMAND.toString(), verb, Long.toString(pid)));
    command.addAll(List.of(rest));
    return Jvm.execute(command, null);
  }
}
