package jtrace.maven;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoExecutionException;

/** The values of two traces by call path, from their reports {@code collapsed}. */
final class CallPaths {
  private static final int SHOWN = 5;

  private final Map<String, Long> before;
  private final Map<String, Long> after;

  CallPaths(Path before, Path after) throws MojoExecutionException {
    this.before = read(before);
    this.after = read(after);
  }

  /** Lines {@code thread;frame;frame VALUE}; the sum of all threads. */
  private static Map<String, Long> read(Path collapsed) throws MojoExecutionException {
    Map<String, Long> values = new HashMap<>();
    try {
      for (String line : Files.readAllLines(collapsed, StandardCharsets.UTF_8)) {
        int blank = line.lastIndexOf(' ');
        int thread = line.indexOf(';');
        if (blank < 0 || thread < 0) continue;
        values.merge(line.substring(thread + 1, blank), Long.parseLong(line.substring(blank + 1)), Long::sum);
      }
    } catch (IOException | NumberFormatException e) {
      throw new MojoExecutionException("cannot read the call paths in " + collapsed + ": " + e.getMessage(), e);
    }
    return values;
  }

  /**
   * Those that changed most, a line each.
   *
   * @param end only paths that end in this routine; empty: all
   */
  List<String> changed(String end) {
    Set<String> all = new HashSet<>(before.keySet());
    all.addAll(after.keySet());
    return all.stream()
        .filter(path -> end.isEmpty() || path.equals(end) || path.endsWith(";" + end))
        .filter(path -> change(path) != 0)
        .sorted(Comparator.comparingLong((String path) -> -Math.abs(change(path))).thenComparing(path -> path))
        .limit(SHOWN)
        .map(this::text)
        .collect(Collectors.toList());
  }

  private long change(String path) {
    return after.getOrDefault(path, 0L) - before.getOrDefault(path, 0L);
  }

  private String text(String path) {
    return String.format(
        Locale.ROOT, "%s: %,d → %,d", path.replace(";", " > "), before.getOrDefault(path, 0L),
        after.getOrDefault(path, 0L));
  }
}
