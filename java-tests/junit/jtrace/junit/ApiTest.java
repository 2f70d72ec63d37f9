package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code jtrace-api.jar}, used by programs of java-tests/api in JVMs of their own. */
final class ApiTest {
  private static final Path API = Path.of(Setup.property("jtrace.api"));
  private static final Path PROGRAMS = Path.of(Setup.property("jtrace.api.programs"));

  static Jvm jvm() {
    return new Jvm().arguments("-Xcheck:jni").classpathOf(API, PROGRAMS);
  }

  /** What a program printed as "name=value". */
  static Map<String, String> told(Jvm.Result result) {
    assertEquals(0, result.exit(), result.err());
    Map<String, String> values = new LinkedHashMap<>();
    result.out().lines().forEach(line -> {
      int sign = line.indexOf('=');
      assertTrue(sign > 0, line);
      values.put(line.substring(0, sign), line.substring(sign + 1));
    });
    return values;
  }

  @Test
  void nothingHappensWithoutTheAgent() {
    Path copy = Jvm.temporary("dump", ".bin");
    assertTrue(copy.toFile().delete());
    Jvm.Result result = jvm().run("programs.NoAgent", copy.toString());
    assertEquals("", result.err());
    Map<String, String> expected = new LinkedHashMap<>();
    expected.put("active", "false");
    expected.put("metrics", "0");
    expected.put("total", "0");
    expected.put("threadTotal", "0");
    expected.put("processTotal", "0");
    expected.put("delta", "0");
    expected.put("measured", "0");
    expected.put("text", "nothing: the jtrace agent is not in this JVM");
    expected.put("runs", "22");
    expected.put("counter", "user.orders 0");
    expected.put("dump", "Optional.empty");
    expected.put("copied", "false");
    expected.put("status", "true");
    expected.put("unit", "B");
    expected.put("unknown", "true");
    expected.put("bytes", "0");
    assertEquals(expected, told(result));
  }
}
