package jtrace.maven;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoExecutionException;

/** Runs jtrace-post. */
final class PostProcessor {
  /** The exit code of jtrace-post if a rule is broken. */
  private static final int RULE_BROKEN = 3;

  private static final String PREFIX = "jtrace-post: ";

  private final Path program;
  private final List<String> options;

  /** {@code options}: for each report. */
  PostProcessor(Path program, List<String> options) {
    this.program = program;
    this.options = options;
  }

  /**
   * Writes a report to {@code output} and returns the messages about broken rules; none: they hold.
   */
  List<String> report(Path output, List<String> arguments, Path... traces) throws MojoExecutionException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(arguments);
    command.addAll(options);
    command.addAll(List.of("-o", output.toString()));
    Arrays.stream(traces).map(Path::toString).forEach(command::add);
    Path errors = output.resolveSibling(output.getFileName() + ".err");
    try {
      // A pipe that nobody reads would fill, and both would wait for ever.
      int exit =
          new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(errors.toFile())
              .redirectInput(new File("/dev/null"))
              .start()
              .waitFor();
      List<String> lines =
          Files.readAllLines(errors, StandardCharsets.UTF_8).stream()
              .map(line -> line.startsWith(PREFIX) ? line.substring(PREFIX.length()) : line)
              .collect(Collectors.toList());
      if (exit != 0 && exit != RULE_BROKEN) {
        throw new MojoExecutionException(
            "jtrace-post ends with " + exit + ": " + (lines.isEmpty() ? "no message" : lines.get(lines.size() - 1)));
      }
      return exit == 0 ? List.of() : lines;
    } catch (IOException e) {
      throw new MojoExecutionException("cannot run jtrace-post: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MojoExecutionException("interrupted while jtrace-post ran", e);
    } finally {
      errors.toFile().delete();
    }
  }
}
