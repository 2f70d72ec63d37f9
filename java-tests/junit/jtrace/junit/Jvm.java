package jtrace.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A JVM of the JDK under test, with or without the agent, run to its end. */
final class Jvm {
  private static final long PATIENCE_S = 300;

  private final List<String> launcher = new ArrayList<>();
  private final List<String> firstArguments = new ArrayList<>();
  private final List<String> jvmArguments = new ArrayList<>();
  private String classpath = Setup.classpath();
  private String agentOptions;
  private boolean comesLast;
  private Path trace;

  /** The exit code, the output and the trace of a process. */
  record Result(int exit, String out, String err, Path trace) {
    /** Lines of stderr that are not the agent's. */
    List<String> foreignErrors() {
      return err.lines().filter(line -> !line.startsWith("jtrace: ")).toList();
    }

    List<String> agentLines() {
      return err.lines().filter(line -> line.startsWith("jtrace: ")).toList();
    }

    Report report(String... options) {
      return Report.of(trace, options);
    }
  }

  /** Records to a new temporary file; `options` may be empty. */
  Jvm agent(String options) {
    trace = temporary("trace", ".bin");
    agentOptions = "out=" + trace + (options.isEmpty() ? "" : "," + options);
    return this;
  }

  /** Records to a new temporary file samples that `timer` drives. */
  Jvm agent(Timer timer, String options) {
    launcher.addAll(timer.launcher());
    return agent(timer.option + "," + options);
  }

  /** Before the JVM's command, such as {@link Kernel#without}. */
  Jvm launcher(List<String> words) {
    launcher.addAll(words);
    return this;
  }

  /** Other agents among the arguments are loaded before. */
  Jvm afterOtherAgents() {
    comesLast = true;
    return this;
  }

  Jvm arguments(String... arguments) {
    jvmArguments.addAll(Arrays.asList(arguments));
    return this;
  }

  /** Before -agentpath, because agents start in their order. */
  Jvm argumentsBeforeAgent(String... arguments) {
    firstArguments.addAll(Arrays.asList(arguments));
    return this;
  }

  Jvm classpath(String... jars) {
    classpath = Setup.classpath(jars);
    return this;
  }

  /** Instead of the test programs. */
  Jvm classpathOf(Path... parts) {
    classpath = Stream.of(parts).map(Path::toString).collect(Collectors.joining(":"));
    return this;
  }

  Result run(String... mainAndArguments) {
    List<String> command = new ArrayList<>(launcher);
    command.add(Setup.java());
    command.addAll(firstArguments);
    String agent = "-agentpath:" + Setup.AGENT + "=" + agentOptions;
    if (agentOptions != null && !comesLast) command.add(agent);
    command.addAll(jvmArguments);
    if (agentOptions != null && comesLast) command.add(agent);
    command.add("-cp");
    command.add(classpath);
    command.addAll(Arrays.asList(mainAndArguments));
    return execute(command, trace);
  }

  static Result execute(List<String> command, Path trace) {
    Path out = temporary("stdout", ".txt");
    Path err = temporary("stderr", ".txt");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .start();
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("did not end within " + PATIENCE_S + " s: " + command);
      }
      return new Result(process.exitValue(), Files.readString(out), Files.readString(err), trace);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  static Path temporary(String prefix, String suffix) {
    try {
      Path file = Files.createTempFile("jtrace-" + prefix, suffix);
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
