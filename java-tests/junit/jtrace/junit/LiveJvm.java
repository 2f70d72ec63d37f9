package jtrace.junit;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A JVM of the JDK under test that runs {@code Attached} and can be attached to. */
final class LiveJvm implements AutoCloseable {
  private static final long PATIENCE_S = 60;

  final Path folder;
  private final Path err;
  private final Process process;
  private final BufferedWriter in;
  private final BufferedReader out;

  LiveJvm(String... jvmArguments) {
    this(2, jvmArguments);
  }

  /** {@code threads}: how many make calls all the time. */
  LiveJvm(int threads, String... jvmArguments) {
    this(
        List.of(), Setup.classpath(), List.of("Attached", Integer.toString(threads)), jvmArguments);
  }

  /** Another program that answers as {@code Attached} does. */
  static LiveJvm of(String classpath, List<String> program, String... jvmArguments) {
    return new LiveJvm(List.of(), classpath, program, jvmArguments);
  }

  /** Where {@link Timer#option} gets that timer. */
  static LiveJvm of(Timer timer) {
    return new LiveJvm(timer.launcher(), Setup.classpath(), List.of("Attached", "2"));
  }

  private LiveJvm(
      List<String> launcher, String classpath, List<String> program, String... jvmArguments) {
    try {
      folder = Files.createTempDirectory("jtrace-live");
      err = folder.resolve("stderr.txt");
      List<String> command = new ArrayList<>(launcher);
      command.add(Setup.java());
      command.addAll(Arrays.asList(jvmArguments));
      command.addAll(List.of("-cp", classpath));
      command.addAll(program);
      process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectError(err.toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    in = process.outputWriter();
    out = process.inputReader();
    expect("ready", readLine());
  }

  String pid() {
    return Long.toString(process.pid());
  }

  /** The program's answer to one line of input. */
  String ask(String line) {
    try {
      in.write(line + "\n");
      in.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("the program is gone: " + errors(), e);
    }
    return readLine();
  }

  long askNumber(String line) {
    return Long.parseLong(ask(line));
  }

  /** Runs {@code jtrace VERB PID REST…}; it must succeed. */
  String jtrace(String verb, String... rest) {
    Jvm.Result result = tryJtrace(verb, rest);
    if (result.exit() != 0) {
      throw new AssertionError("jtrace " + verb + ": " + result.exit() + " " + result.err());
    }
    return result.out();
  }

  static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() >= end) throw new AssertionError("not within a minute");
      Thread.sleep(20);
    }
  }

  /** Loads the agent with the JDK's own tool. */
  String jcmd(String options) {
    return jcmd(Setup.AGENT, options);
  }

  String jcmd(Path library, String options) {
    List<String> command =
        List.of(
            Setup.JDK.resolve("bin/jcmd").toString(),
            pid(),
            "JVMTI.agent_load",
            library.toString(),
            "\"" + options + "\"");
    return Jvm.execute(command, null).out();
  }

  Jvm.Result tryJtrace(String verb, String... rest) {
    List<String> command = new ArrayList<>(List.of(Setup.COMMAND.toString(), verb, pid()));
    command.addAll(Arrays.asList(rest));
    return Jvm.execute(command, null);
  }

  /** Resident memory of the process. */
  long residentKilobytes() {
    try {
      return Files.readAllLines(Path.of("/proc", pid(), "status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From now on writes that would make a file longer fail, as on a full disk. */
  void limitFiles(long bytes) {
    Jvm.Result set =
        Jvm.execute(List.of("prlimit", "--pid", pid(), "--fsize=" + bytes + ":"), null);
    if (set.exit() != 0) throw new AssertionError(set.err());
  }

  String errors() {
    try {
      return Files.readString(err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the program in its own way. */
  int end() {
    expect("ended", ask("end"));
    try {
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) throw new AssertionError("does not end");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private String readLine() {
    try {
      String line = out.readLine();
      if (line == null) throw new AssertionError("the program is gone: " + errors());
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void expect(String expected, String actual) {
    if (!expected.equals(actual)) throw new AssertionError(actual + " in place of " + expected);
  }
}
