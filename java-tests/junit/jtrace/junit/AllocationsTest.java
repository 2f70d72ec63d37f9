package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A record of each allocation (S3.27): objects, bytes and requesters of a program that knows them. */
final class AllocationsTest {
  private static final int THREADS = 3;
  private static Jvm.Result run;
  private static List<String[]> dump;

  @BeforeAll
  static void record() {
    run =
        new Jvm()
            .agent("mode=events,record=log,clock=tsc,codes=+each-alloc")
            .arguments("-Xmx256m")
            .run("cases.Allocations");
    dump = dump(run);
  }

  private static List<String[]> dump(Jvm.Result run) {
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return Report.text(run.trace(), "--report=dump")
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\t"))
        .filter(fields -> fields.length > 2)
        .toList();
  }

  /** The argument of a record that begins with `name`; empty: it has none. */
  private static String argument(String[] fields, String name) {
    for (int i = 3; i < fields.length; i++) {
      if (fields[i].startsWith(name)) return fields[i].substring(name.length());
    }
    return "";
  }

  /** Records of objects that `method` requested, by class: how many, and the bytes of all. */
  private static Map<String, long[]> byClass(List<String[]> dump, String method) {
    Map<String, long[]> classes = new TreeMap<>();
    for (String[] fields : dump) {
      if (!fields[2].equals("alloc") || !argument(fields, "at=").equals(method)) continue;
      long[] sums = classes.computeIfAbsent(fields[3], name -> new long[2]);
      sums[0]++;
      sums[1] += Long.parseLong(argument(fields, "value="));
    }
    return classes;
  }

  private static void objectsAndBytesAreThoseOf(Jvm.Result run, List<String[]> dump) {
    int compared = 0;
    for (String line : run.out().lines().toList()) {
      if (!line.startsWith("ALLOCATED ")) continue;
      String[] words = line.split(" ");
      long objects = Long.parseLong(words[1]);
      long[] sums = byClass(dump, words[3]).get(words[4]);
      assertTrue(sums != null, line);
      assertEquals(objects, sums[0], line);
      assertEquals(objects * Long.parseLong(words[2]), sums[1], line);
      compared++;
    }
    assertEquals(6, compared);
  }

  @Test
  void objectsAndBytesAreExact() {
    objectsAndBytesAreThoseOf(run, dump);
  }

  @Test
  void objectsOfCompiledAndOfInterpretedCodeAreExact() {
    for (String jvm : List.of("-Xint", "-XX:TieredStopAtLevel=1", "-Xcomp")) {
      Jvm.Result other =
          new Jvm()
              .agent("mode=events,record=log,clock=tsc,codes=+each-alloc")
              .arguments("-Xmx256m", jvm)
              .run("cases.Allocations");
      objectsAndBytesAreThoseOf(other, dump(other));
    }
  }

  /** Each thread has its own records; the line is that of the allocation. */
  @Test
  void recordsHaveThreadAndLine() {
    Map<String, Integer> threads = new TreeMap<>();
    Map<String, Integer> lines = new TreeMap<>();
    for (String[] fields : dump) {
      if (!fields[2].equals("alloc")) continue;
      if (!argument(fields, "at=").equals("cases.Allocations.array()")) continue;
      threads.merge(fields[1], 1, Integer::sum);
      lines.merge(argument(fields, "line="), 1, Integer::sum);
    }
    assertEquals(THREADS, threads.size(), threads.toString());
    assertEquals(1, threads.values().stream().distinct().count(), threads.toString());
    assertEquals(2, lines.size(), lines.toString());
    assertEquals(1, lines.values().stream().distinct().count(), lines.toString());
  }

  /** Between the entries and exits of its thread's log, which has times: the call path is known. */
  @Test
  void recordsAreAtTheirCallPath() {
    Map<String, Deque<String>> open = new HashMap<>();
    int seen = 0;
    for (String[] fields : dump) {
      Deque<String> path = open.computeIfAbsent(fields[1], thread -> new ArrayDeque<>());
      if (fields[2].startsWith("enter")) path.push(fields[3]);
      if (fields[2].startsWith("exit") && !path.isEmpty()) path.pop();
      if (!fields[2].equals("alloc")) continue;
      if (!argument(fields, "at=").equals("cases.Allocations.small()")) continue;
      if (!fields[3].equals("cases.Allocations$Small")) continue;
      List<String> callers = new ArrayList<>(path);
      assertFalse(callers.size() < 2, String.join("\t", fields));
      assertEquals("cases.Allocations.small()", callers.get(0));
      assertEquals("cases.Allocations.all()", callers.get(1));
      seen++;
    }
    assertEquals(9_000, seen);
  }

  @Test
  void withoutTheCodeThereAreNone() {
    Jvm.Result plain = new Jvm().agent("mode=events,record=log").run("cases.Allocations");
    assertTrue(dump(plain).stream().noneMatch(fields -> fields[2].equals("alloc")));
  }
}
