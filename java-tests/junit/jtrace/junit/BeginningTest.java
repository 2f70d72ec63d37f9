package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A trace begins with all threads and classes that are there, then the mark "initialised" (S3.2). */
final class BeginningTest {
  private static final Set<String> OF_THE_JVM =
      Set.of("java.lang.Object", "java.lang.String", "java.lang.Thread", "java.util.HashMap");

  /** The records of a trace before the mark, and after it. */
  private record Parts(List<List<String>> before, List<List<String>> after) {
    static Parts of(Path trace) {
      List<List<String>> records =
          Report.text(trace, "--report=dump")
              .lines()
              .filter(line -> !line.startsWith("#"))
              .map(line -> List.of(line.split("\t", -1)))
              .toList();
      List<String> ops = records.stream().map(fields -> fields.get(2)).toList();
      int mark = ops.indexOf("session-initialised");
      assertTrue(mark >= 0, "no mark");
      assertEquals(mark, ops.lastIndexOf("session-initialised"), "one mark");
      return new Parts(records.subList(0, mark), records.subList(mark + 1, records.size()));
    }

    static Set<String> classes(List<List<String>> records) {
      return fields(records, "class-load", 3);
    }

    static Set<String> threads(List<List<String>> records) {
      return fields(records, "thread-start", 1);
    }

    private static Set<String> fields(List<List<String>> records, String op, int field) {
      return records.stream()
          .filter(fields -> fields.get(2).equals(op))
          .map(fields -> fields.get(field))
          .collect(Collectors.toSet());
    }

    void expect(Set<String> threads, Set<String> classes) {
      Set<String> begun = threads(before);
      assertTrue(begun.containsAll(threads), begun + " has all of " + threads);
      Set<String> loaded = classes(before);
      assertTrue(loaded.containsAll(classes), "of " + classes + " are missing: "
          + classes.stream().filter(name -> !loaded.contains(name)).toList());
      assertTrue(loaded.size() > 200, loaded.size() + " classes");
      assertTrue(threads(after).stream().noneMatch(threads::contains), "threads begin once");
      assertTrue(classes(after).stream().noneMatch(classes::contains), "classes are loaded once");
    }
  }

  @Test
  void atTheStart() {
    Parts parts = Parts.of(new Jvm().agent("mode=events").run("MixedCalls").trace());
    parts.expect(Set.of("main"), OF_THE_JVM);
    assertTrue(Parts.classes(parts.after()).contains("MixedCalls"), "loaded when the JVM is there");
  }

  @Test
  void ofARunningProgram() {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.ask("work 1000");
      Path trace = jvm.folder.resolve("b.bin");
      jvm.jtrace("start", "mode=events", "out=" + trace);
      jvm.jtrace("stop");
      Parts parts = Parts.of(trace);
      parts.expect(Set.of("main", "load-0", "load-1"), OF_THE_JVM);
      assertTrue(Parts.classes(parts.before()).contains("Attached"), "the program's class");
    }
  }
}
