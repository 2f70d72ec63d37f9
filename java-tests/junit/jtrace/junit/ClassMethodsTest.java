package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Records of each method of a class, with its code (S3.3): codes=+0x20/0x2. */
final class ClassMethodsTest {
  private static final String HOT = "Attached.deep(int)";
  private static final String COLD = "Attached.main(String[])";

  /** The fields of the records of some ops. */
  private static List<List<String>> records(Path trace, String... ops) {
    Set<String> wanted = Set.of(ops);
    return Report.text(trace, "--report=dump")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> List.of(line.split("\t", -1)))
        .filter(fields -> wanted.contains(fields.get(2)))
        .toList();
  }

  private static String field(List<String> record, String key) {
    return record.stream()
        .filter(it -> it.startsWith(key))
        .map(it -> it.substring(key.length()))
        .findFirst()
        .orElse("");
  }

  /** Also where methods get their numbers later. */
  @Test
  void everyLoadedClassHasItsNumberOfMethods() {
    for (String mode : List.of("mode=merged", "mode=samples", "mode=samples,stack=app")) {
      Jvm.Result run = new Jvm().agent(mode).run("MixedCalls");
      String methods =
          run.report("--report=classes").rows().stream()
              .filter(row -> row.get("name").equals("MixedCalls"))
              .map(row -> row.get("methods"))
              .findFirst()
              .orElse("absent");
      assertEquals("5", methods, mode);
    }
  }

  /** A class loaded while the trace runs: its record, then one for each method. */
  @Test
  void methodsFollowTheirClass() {
    Jvm.Result run = new Jvm().agent("codes=+0x20/0x2").run("MixedCalls");
    List<List<String>> all = records(run.trace(), "class-load", "class-method");
    int at = 0;
    while (!all.get(at).subList(2, 4).equals(List.of("class-load", "MixedCalls"))) at++;
    int methods = Integer.parseInt(field(all.get(at), "methods="));
    Set<String> names = new TreeSet<>();
    for (List<String> record : all.subList(at + 1, at + 1 + methods)) {
      assertEquals(List.of("class-method", "MixedCalls"), record.subList(2, 4));
      assertEquals("0", field(record, "jitted="), "not compiled yet");
      names.add(record.get(4));
    }
    assertEquals(
        Set.of("<init>()", "inner(int)", "leaf(int)", "main(String[])", "outer(int)").stream()
            .map(method -> "MixedCalls." + method)
            .collect(Collectors.toSet()),
        names);
  }

  @Test
  void eachClassHasEachMethodOnce() {
    Jvm.Result run = new Jvm().agent("mode=events,codes=+method").run("MixedCalls");
    Map<String, Integer> expected = new HashMap<>();
    Map<String, Integer> found = new HashMap<>();
    for (List<String> record : records(run.trace(), "class-load", "class-method")) {
      if (record.get(2).equals("class-load")) {
        String methods = field(record, "methods=");
        if (!methods.isEmpty()) expected.merge(record.get(3), Integer.parseInt(methods), Integer::sum);
      } else {
        found.merge(record.get(3), 1, Integer::sum);
      }
    }
    assertTrue(expected.size() > 100, expected.size() + " classes");
    assertEquals(expected, found);
  }

  /** Compiled before the recording: JVMTI's own events say where. */
  @Test
  void addressesAreThoseOfTheCode() {
    try (LiveJvm jvm = new LiveJvm("-XX:-BackgroundCompilation")) {
      jvm.ask("work 300000");
      Path trace = jvm.folder.resolve("m.bin");
      jvm.jtrace("start", "mode=samples", "codes=+0x20/0x2;+jit", "out=" + trace);
      jvm.jtrace("stop");
      List<List<String>> records = records(trace, "class-method", "jit-load");
      Map<String, Set<String>> code = new HashMap<>();
      List<List<String>> jitted = new ArrayList<>();
      Map<String, String> flags = new HashMap<>();
      for (List<String> record : records) {
        if (record.get(2).equals("jit-load")) {
          code.computeIfAbsent(record.get(3), name -> new HashSet<>()).add(field(record, "address="));
        } else {
          flags.put(record.get(4), field(record, "jitted="));
          if (field(record, "jitted=").equals("1")) jitted.add(record);
        }
      }
      assertEquals("1", flags.get(HOT));
      assertEquals("0", flags.get(COLD));
      long known = jitted.stream().filter(it -> code.containsKey(it.get(4))).count();
      assertTrue(known > 20, known + " of " + jitted.size());
      for (List<String> record : jitted) {
        Set<String> reported = code.get(record.get(4));
        // Code that is made or replaced between the events and the records.
        if (reported == null) continue;
        assertTrue(reported.contains(field(record, "address=")), record + " not in " + reported);
      }
    }
  }

  @Test
  void offByDefault() {
    Jvm.Result run = new Jvm().agent("").run("MixedCalls");
    assertEquals(List.of(), records(run.trace(), "class-method"));
  }
}
