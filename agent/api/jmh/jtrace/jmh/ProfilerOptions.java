package jtrace.jmh;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * The text after the colon of {@code -prof jtrace.jmh.JTraceProfiler:out=DIR;metrics=…}.
 *
 * @param out a folder for a trace of each benchmark; null: none is kept
 * @param metrics by name
 * @param library libjtrace.so, with which JVMs of benchmarks are started; null: they already have
 * it
 */
record ProfilerOptions(Path out, List<String> metrics, Path library) {
  private static final Set<String> NAMES = Set.of("out", "metrics", "libPath");

  static ProfilerOptions parse(String line) throws ProfilerException {
    Path out = null;
    List<String> metrics = List.of("alloc.bytes");
    Path library = null;
    for (String option : line.split(";")) {
      if (option.isBlank()) continue;
      String[] parts = option.strip().split("=", 2);
      if (parts.length != 2 || parts[1].isBlank() || !NAMES.contains(parts[0])) {
        throw new ProfilerException(
            "'" + option + "' is none of: out=DIR; metrics=alloc.bytes,cpu.ns;"
                + " libPath=/path/to/libjtrace.so");
      }
      switch (parts[0]) {
        case "out" -> out = Path.of(parts[1]).toAbsolutePath();
        case "metrics" -> metrics = List.of(parts[1].split("[,\\s]+"));
        default -> library = Path.of(parts[1]).toAbsolutePath();
      }
    }
    return new ProfilerOptions(out, metrics, library);
  }
}
