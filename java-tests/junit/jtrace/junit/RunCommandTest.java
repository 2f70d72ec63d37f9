package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code jtrace run} and {@code jtrace env}: programs that begin with the agent. */
final class RunCommandTest {
  @TempDir Path folder;

  private record Outcome(int code, String out, String err) {}

  private Outcome jtrace(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(Setup.COMMAND.toString()));
    command.addAll(List.of(arguments));
    Path out = folder.resolve("out.txt");
    Path err = folder.resolve("err.txt");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    builder.environment().remove("DISPLAY");
    builder.environment().remove("WAYLAND_DISPLAY");
    Process process = builder.start();
    assertTrue(process.waitFor(2, TimeUnit.MINUTES), "it hangs");
    return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  private List<Path> traces() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(it -> it.toString().endsWith(".bin")).toList();
    }
  }

  @Test
  void reportsOnAProgramWhenItHasEnded() throws Exception {
    Outcome run = jtrace("run", "mode=events", "--report=flat", "--format=csv", "--",
        Setup.java(), "-cp", Setup.CASES.toString(), "Fib", "10", "1");
    assertEquals(0, run.code, run.err);
    assertEquals(1, traces().size());
    assertTrue(traces().get(0).getFileName().toString().matches("jtrace-\\d{8}-\\d{6}-\\d+\\.\\d+\\.bin"));
    // fib(10): 2 fib(11) - 1 calls.
    assertTrue(run.out.contains("Fib.fib(int)"), run.out);
    assertTrue(run.out.contains("177"), run.out);
  }

  /** A script's JVMs get the agent by JAVA_TOOL_OPTIONS, and its exit code is that of the command. */
  @Test
  void followsScripts() throws Exception {
    String java = Setup.java() + " -cp " + Setup.CASES + " Fib ";
    Outcome run = jtrace("run", "mode=events", "--report=summary", "--", "sh", "-c",
        java + "5 1 && " + java + "12 1; exit 3");
    assertEquals(3, run.code, run.err);
    assertEquals(2, traces().size());
    assertTrue(run.err.contains("2 traces were written"), run.err);
    assertTrue(run.out.contains("calls"), run.out);
  }

  @Test
  void writesAPage() throws Exception {
    Outcome run = jtrace("run", "mode=events,out=p.bin", "--open", "--",
        Setup.java(), "-cp", Setup.CASES.toString(), "Fib", "5", "1");
    assertEquals(0, run.code, run.err);
    assertTrue(run.out.contains("the page is p.bin.html"), run.out);
    assertTrue(Files.readString(folder.resolve("p.bin.html")).contains("</html>"));
  }

  @Test
  void reportsAProgramWithoutJvm() throws Exception {
    Outcome run = jtrace("run", "--", "true");
    assertEquals(2, run.code);
    assertTrue(run.err.contains("left no trace"), run.err);
    assertEquals(1, jtrace("run", "--", "false").code);
  }

  /** The line that env prints loads the agent into whatever JVM finds it. */
  @Test
  void printsTheVariable() throws Exception {
    String line = jtrace("env", "mode=events").out.strip();
    assertTrue(line.startsWith("JAVA_TOOL_OPTIONS=-agentpath:"), line);
    ProcessBuilder builder =
        new ProcessBuilder(Setup.java(), "-cp", Setup.CASES.toString(), "Fib", "5", "1")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("env.txt").toFile());
    builder.environment().put("JAVA_TOOL_OPTIONS", line.substring(line.indexOf('=') + 1));
    Process process = builder.start();
    assertTrue(process.waitFor(1, TimeUnit.MINUTES), "it hangs");
    assertEquals(0, process.exitValue(), Files.readString(folder.resolve("env.txt")));
    assertEquals(1, traces().size());
  }
}
