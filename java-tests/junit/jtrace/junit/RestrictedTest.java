package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs under limits, and systems that refuse requests of the agent. */
final class RestrictedTest {
  @TempDir Path folder;

  private List<String> java(String options, String... mainAndArguments) {
    List<String> command = new ArrayList<>(List.of(Setup.java()));
    if (!options.isEmpty()) command.add("-agentpath:" + Setup.AGENT + "=" + options);
    command.addAll(List.of("-Xmx32m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=32m"));
    command.addAll(List.of("-XX:CompressedClassSpaceSize=32m", "-cp", Setup.classpath()));
    command.addAll(Arrays.asList(mainAndArguments));
    return command;
  }

  private static Jvm.Result without(String call, int error, List<String> command) {
    List<String> all = new ArrayList<>(Kernel.without(call, error));
    all.addAll(command);
    return Jvm.execute(all, null);
  }

  private static Jvm.Result limited(long kilobytes, List<String> command) {
    List<String> all =
        new ArrayList<>(List.of("sh", "-c", "ulimit -v " + kilobytes + "; exec \"$@\"", "sh"));
    all.addAll(command);
    return Jvm.execute(all, null);
  }

  /** The program runs as without the agent, which reports in one line what it cannot do. */
  @Test
  void smallAddressSpaceDoesNotHarmPrograms() {
    long least = 300_000;
    while (limited(least, java("", "Fib", "20", "2")).exit() != 0) least += 100_000;
    boolean refused = false;
    boolean recorded = false;
    for (long more : List.of(300_000L, 700_000L, 1_100_000L, 1_700_000L, 3_000_000L)) {
      Path trace = folder.resolve(more + ".bin");
      Jvm.Result run = limited(least + more, java("out=" + trace, "Fib", "20", "2"));
      assertEquals(0, run.exit(), more + ": " + run.out() + run.err());
      assertEquals(2, run.out().lines().count(), run.out());
      assertTrue(run.err().lines().allMatch(line -> line.startsWith("jtrace: ")), run.err());
      if (run.err().contains("recording stopped")) {
        refused = true;
        assertTrue(run.err().contains("ulimit -v"), run.err());
      } else {
        recorded = true;
        long calls = Report.of(trace, "--report=flat").sum("calls", "Fib.fib(int)");
        assertEquals(2 * 21_891, calls, run.err());
      }
    }
    assertTrue(refused, "no limit was small");
    assertTrue(recorded, "no limit was large enough");
  }

  @Test
  void writesTracesToFileSystemsWithoutLocks() {
    Path trace = folder.resolve("a.bin");
    Jvm.Result run = without("flock", Kernel.ENOLCK, java("out=" + trace, "Fib", "20", "1"));
    assertEquals(0, run.exit(), run.err());
    assertEquals(21_891, Report.of(trace, "--report=flat").sum("calls", "Fib.fib(int)"));
  }

  @Test
  void warnsAboutATimerThatMayNotSignal() {
    Path trace = folder.resolve("wall.bin");
    String options = "mode=samples,timer=wall,interval=1ms,out=" + trace;
    Jvm.Result run = without("rt_tgsigqueueinfo", Kernel.EPERM, java(options, "Fib", "25", "3"));
    assertEquals(0, run.exit(), run.err());
    String summary = Report.text(trace, "--report=summary", "--width=0");
    assertTrue(
        summary.lines().anyMatch(
            line -> line.contains("warning: ") && line.contains("rt_tgsigqueueinfo")),
        summary);
    assertTrue(summary.contains("seccomp"), summary);
    Jvm.Result free = Jvm.execute(java(options, "Fib", "25", "3"), null);
    assertEquals(0, free.exit(), free.err());
    assertFalse(Report.text(trace, "--report=summary").contains("rt_tgsigqueueinfo"));
  }

  /** Another process has the socket: jtrace could not reach the JVM, and the agent reports that. */
  @Test
  void reportsThatTheSocketIsTaken() throws Exception {
    Object user = Files.getAttribute(folder, "unix:uid");
    String listen =
        "import os, socket, sys\n"
            + "os.makedirs(os.path.dirname(sys.argv[1]), 0o700, exist_ok=True)\n"
            + "s = socket.socket(socket.AF_UNIX)\n"
            + "s.bind(sys.argv[1])\n"
            + "s.listen(1)\n"
            + "sys.stdin.read()\n"
            + "os.unlink(sys.argv[1])\n";
    // The listener reads the pipe from the program, so it ends with the program.
    String script =
        "path=/tmp/.jtrace-" + user + "/$$; mkfifo pipe; python3 -c \"$0\" $path <pipe & "
            + "exec 9>pipe; while [ ! -S $path ]; do sleep 0.05; done; exec \"$@\"";
    for (String options : List.of("out=taken.bin", "serve")) {
      Path here = Files.createTempDirectory(folder, "taken");
      List<String> command = new ArrayList<>(List.of("env", "-C", here.toString()));
      command.addAll(List.of("sh", "-c", script, listen));
      command.addAll(java(options, "Fib", "20", "1"));
      Jvm.Result run = Jvm.execute(command, null);
      assertEquals(0, run.exit(), run.err());
      assertTrue(run.err().contains("jtrace: the jtrace command cannot reach this JVM: "), run.err());
      assertTrue(run.err().contains("/tmp/.jtrace-" + user + "/"), run.err());
    }
  }
}
