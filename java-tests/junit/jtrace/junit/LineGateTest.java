package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The user guide's program with counts of lines: its listing, and its gate for CI. */
final class LineGateTest {
  private static final Path PROGRAM = Setup.SOURCE.resolve("java-tests/workloads/Primes.java");
  private static final int UNCHANGED_RUNS = 20;

  private static Path record(Path classes) {
    Jvm.Result run =
        new Jvm().agent("mode=events,blocks=on,include=Primes").classpathOf(classes).run("Primes");
    assertEquals(0, run.exit(), run.err());
    return run.trace();
  }

  private static Jvm.Result gate(Path before, Path after) {
    return Jvm.execute(
        List.of(Setup.POST.toString(), "--report=diff", "--fail-on=total.bytecodes>0",
            before.toString(), after.toString()),
        null);
  }

  private static void expectInGuide(String text) throws Exception {
    String guide = Files.readString(Setup.SOURCE.resolve("docs/USER-GUIDE.md"));
    for (String line : text.lines().toList()) {
      assertTrue(guide.contains("\n" + line.stripTrailing() + "\n"), line + " of\n" + text);
    }
  }

  @Test
  void noUnchangedRunFails() {
    Path before = record(Setup.CASES);
    for (int i = 0; i < UNCHANGED_RUNS; i++) {
      Jvm.Result result = gate(before, record(Setup.CASES));
      assertEquals(0, result.exit(), result.out() + result.err());
    }
  }

  @Test
  void oneMoreComparisonFailsAndIsNamed() throws Exception {
    Path changed = Files.createTempDirectory("jtrace-gate");
    Path source = changed.resolve("Primes.java");
    Files.writeString(
        source, Files.readString(PROGRAM).replace("n % d == 0", "d > 1 && n % d == 0"));
    // The first JDK's compiler: other JDKs may be runtimes.
    Jvm.Result compiled =
        Jvm.execute(
            List.of(Path.of(System.getProperty("java.home"), "bin/javac").toString(), "--release",
                "17", "-g", "-d", changed.toString(), source.toString()),
            null);
    assertEquals(0, compiled.exit(), compiled.err());
    Jvm.Result result = gate(record(Setup.CASES), record(changed));
    assertEquals(3, result.exit(), result.err());
    assertTrue(result.err().contains("Primes.prime(int):5: "), result.err());
    expectInGuide(result.err());
  }

  /** Each count of the listing, from the program's own loops. */
  @Test
  void listingOfTheGuideIsRight() throws Exception {
    Path trace = record(Setup.CASES);
    String[] options = {"--report=source", "--of=Primes", "--source=" + PROGRAM.getParent()};
    List<String> lines = new ArrayList<>(Report.text(trace, options).lines().toList());
    assertTrue(lines.remove(0).startsWith("Primes.java"), lines.toString());
    expectInGuide(String.join("\n", lines));
    Map<Integer, Long> shown = new TreeMap<>();
    Pattern row = Pattern.compile("^ *([0-9,]+) +(?:[0-9.]+ %)? *[|+#] +([0-9]+) .*");
    for (String line : lines) {
      var match = row.matcher(line);
      if (!match.matches()) continue;
      shown.put(
          Integer.parseInt(match.group(2)), Long.parseLong(match.group(1).replace(",", "")));
    }
    assertEquals(expected(), shown);
  }

  private static Map<Integer, Long> expected() {
    Map<Integer, Long> counts = new TreeMap<>(Map.of(2, 0L, 14, 1L));
    for (int n = 2; n <= 1001; n++) {
      counts.merge(11, 1L, Long::sum);
      if (n == 1001) break;
      counts.merge(12, 1L, Long::sum);
      boolean isPrime = true;
      for (int d = 2; ; d++) {
        counts.merge(4, 1L, Long::sum);
        if (d * d > n) break;
        counts.merge(5, 1L, Long::sum);
        isPrime = n % d != 0;
        if (!isPrime) break;
      }
      if (isPrime) counts.merge(7, 1L, Long::sum);
    }
    return counts;
  }
}
