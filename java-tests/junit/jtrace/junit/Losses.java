package jtrace.junit;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The losses of a trace: what was not recorded. */
final class Losses {
  /** A row of the summary: a count and a text. */
  record Loss(String severity, long count, String what) {}

  private final Map<String, Loss> rows = new TreeMap<>();
  private final Map<String, Set<String>> classes = new TreeMap<>();

  private Losses() {}

  static Losses of(Path trace) {
    Losses losses = new Losses();
    for (String line : Report.text(trace, "--report=dump").lines().toList()) {
      String[] fields = line.split("\t");
      if (fields[0].equals("#@") && fields[1].equals("loss")) {
        losses.rows.put(fields[2], new Loss(fields[3], Long.parseLong(fields[4]), fields[5]));
      } else if (fields.length > 4 && fields[2].equals("class-unprobed")) {
        losses.classes.computeIfAbsent(fields[4], it -> new TreeSet<>()).add(fields[3]);
      }
    }
    return losses;
  }

  Loss get(String name) {
    return rows.getOrDefault(name, new Loss("none", 0, ""));
  }

  /** Names of losses with this prefix. */
  Set<String> named(String beginning) {
    return rows.keySet().stream()
        .filter(name -> name.startsWith(beginning))
        .collect(Collectors.toSet());
  }

  Set<String> warnings() {
    return rows.keySet().stream()
        .filter(name -> List.of("warning", "error").contains(rows.get(name).severity()))
        .collect(Collectors.toSet());
  }

  /** The classes that have their own record, by the loss and the JVM's message. */
  Map<String, Set<String>> classes() {
    return classes;
  }
}
