package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.function.Executable;

/** The calls that programs print, and the differences of two counts. */
final class Expectations {
  private static final Pattern EXPECT = Pattern.compile("EXPECT (\\d+) (.+)");
  private static final Pattern NEAR = Pattern.compile("EXPECT_NEAR (\\d+) (\\d+) (.+)");

  private Expectations() {}

  /** Every line `EXPECT CALLS ROUTINE` and `EXPECT_NEAR SLACK CALLS ROUTINE` of a program's output. */
  static void check(Jvm.Result run) {
    Report flat = run.report("--report=flat");
    List<Executable> checks = new ArrayList<>();
    for (String line : run.out().lines().toList()) {
      Matcher expect = EXPECT.matcher(line);
      Matcher near = NEAR.matcher(line);
      if (expect.matches()) {
        long calls = Long.parseLong(expect.group(1));
        String name = expect.group(2);
        checks.add(() -> assertEquals(calls, flat.sum("calls", name), name));
      } else if (near.matches()) {
        long slack = Long.parseLong(near.group(1));
        long off = flat.sum("calls", near.group(3)) - Long.parseLong(near.group(2));
        checks.add(() -> assertTrue(Math.abs(off) <= slack, line + ": off by " + off));
      }
    }
    assertFalse(checks.isEmpty(), "the program expects nothing: " + run.out());
    assertAll(checks);
  }

  /** The first few keys whose counts differ; a missing key counts 0. */
  static List<String> differences(Map<String, Long> expected, Map<String, Long> actual) {
    Map<String, Long> either = new TreeMap<>(expected);
    either.putAll(actual);
    return either.keySet().stream()
        .filter(key -> !expected.getOrDefault(key, 0L).equals(actual.getOrDefault(key, 0L)))
        .limit(20)
        .map(key -> key + ": expected " + expected.get(key) + ", recorded " + actual.get(key))
        .toList();
  }
}
