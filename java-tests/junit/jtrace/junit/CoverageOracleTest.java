package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.analysis.ICounter;
import org.jacoco.core.tools.ExecFileLoader;
import org.junit.jupiter.api.Test;

/**
 * Lines that JaCoCo sees run are lines that blocks=on counts. JaCoCo has a probe at the end of a
 * block: what ran before an exception in the block is missing there, and nothing else is.
 */
final class CoverageOracleTest {
  /** "Class:line" → JaCoCo's status of the line; lines that it hides are missing. */
  private static Map<String, Integer> jacoco(Path exec, Path classes, Predicate<String> chosen)
      throws Exception {
    ExecFileLoader loader = new ExecFileLoader();
    loader.load(exec.toFile());
    CoverageBuilder coverage = new CoverageBuilder();
    Analyzer analyzer = new Analyzer(loader.getExecutionDataStore(), coverage);
    try (var files = Files.walk(classes)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        if (!chosen.test(file.getFileName().toString())) continue;
        try (InputStream in = Files.newInputStream(file)) {
          analyzer.analyzeClass(in, file.toString());
        }
      }
    }
    Map<String, Integer> lines = new TreeMap<>();
    for (IClassCoverage type : coverage.getClasses()) {
      for (int line = type.getFirstLine(); line <= type.getLastLine(); line++) {
        int status = type.getLine(line).getStatus();
        if (status == ICounter.EMPTY) continue;
        lines.merge(type.getName().replace('/', '.') + ":" + line, status, Math::max);
      }
    }
    return lines;
  }

  private static Set<String> linesThatRan(Report lines) {
    return lines.rows().stream()
        .filter(row -> !row.get("executions").equals("0"))
        .map(row -> row.get("class") + ":" + row.get("line"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The lines that only JaCoCo has, and those that only jtrace has. */
  private record Difference(Set<String> theirs, Set<String> ours, int both) {}

  private static Difference compare(
      String scope, Path classes, Jvm.Result run, Path exec) throws Exception {
    Map<String, Integer> theirs = jacoco(exec, classes, name -> name.startsWith(scope));
    Set<String> ours = linesThatRan(run.report("--report=lines"));
    Difference difference = new Difference(new TreeSet<>(), new TreeSet<>(), theirs.size());
    for (var line : theirs.entrySet()) {
      boolean ran = line.getValue() != ICounter.NOT_COVERED;
      if (ran && !ours.contains(line.getKey())) difference.theirs.add(line.getKey());
      if (!ran && ours.contains(line.getKey())) difference.ours.add(line.getKey());
    }
    return difference;
  }

  private static Path coverageOf(Jvm jvm, String scope, String... program) throws Exception {
    Path exec = Jvm.temporary("coverage", ".exec");
    Files.delete(exec);
    String agent = Setup.property("jtrace.jacoco.agent");
    jvm.arguments("-javaagent:" + agent + "=includes=" + scope + ",destfile=" + exec).run(program);
    return exec;
  }

  private static String source(String place) throws Exception {
    int line = Integer.parseInt(place.substring(place.indexOf(':') + 1));
    Path file = Setup.SOURCE.resolve("java-tests/workloads/LineCases.java");
    return Files.readAllLines(file).get(line - 1).strip();
  }

  private static Set<String> codeOf(Report lines) {
    return lines.rows().stream()
        .filter(row -> row.get("class").startsWith("LineCases"))
        .map(row -> row.get("class") + "." + row.get("method") + ":" + row.get("line") + " " + row.get("branches"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Classes that were never loaded have the methods, lines and branches of those that ran. */
  @Test
  void classesThatWereNeverLoadedAreWhole() throws Exception {
    Jvm.Result ran =
        new Jvm().agent("mode=events,record=flat,blocks=on,include=LineCases*").run("LineCases");
    Jvm.Result other =
        new Jvm()
            .agent("mode=events,record=flat,blocks=on,include=LineCases*;Primes")
            .run("Primes");
    String classes = "--classes=" + Setup.CASES;
    Report never = Report.of(other.trace(), "--report=lines", classes);
    assertEquals(codeOf(Report.of(ran.trace(), "--report=lines")), codeOf(never));
    for (Map<String, String> row : never.rows()) {
      if (row.get("class").startsWith("LineCases")) assertEquals("0", row.get("executions"));
    }
    // The lines that JaCoCo finds in class files that no execution data names.
    Path exec = coverageOf(new Jvm(), "Primes", "Primes");
    Set<String> ours = new TreeSet<>();
    for (Map<String, String> row : never.rows()) ours.add(row.get("class") + ":" + row.get("line"));
    Set<String> theirs = jacoco(exec, Setup.CASES, name -> name.startsWith("LineCases")).keySet();
    assertTrue(theirs.size() > 50, theirs.toString());
    assertTrue(ours.containsAll(theirs), theirs.toString());
    // Loaded classes count once.
    assertEquals(
        Report.of(ran.trace(), "--report=coverage", "--of=LineCases").rows(),
        Report.of(ran.trace(), "--report=coverage", "--of=LineCases", classes).rows());
    Map<String, String> program =
        Report.of(other.trace(), "--report=coverage", classes).rows().get(0);
    assertEquals(
        Report.of(ran.trace(), "--report=coverage").rows().get(0).get("methods"),
        program.get("methods_never_loaded"));
  }

  @Test
  void linesCoveredByJacocoAreCounted() throws Exception {
    Path exec = coverageOf(new Jvm(), "LineCases*", "LineCases");
    Jvm.Result run =
        new Jvm().agent("mode=events,record=flat,blocks=on,include=LineCases*").run("LineCases");
    Difference difference = compare("LineCases", Setup.CASES, run, exec);
    assertTrue(difference.both > 50, difference.toString());
    assertEquals(Set.of(), difference.theirs);
    Set<String> cutOff = new TreeSet<>();
    for (String place : difference.ours) cutOff.add(source(place));
    // What runs there never ends, or ends with an exception.
    Set<String> expected =
        Set.of(
            "return recursion(depth - 1) + 1;",
            "recursion(i % 20);",
            "forever.wait();",
            "exits(depth - 1);",
            "System.exit(0);",
            "exits(4);");
    assertEquals(new TreeSet<>(expected), cutOff);
  }
}
