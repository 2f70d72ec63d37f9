package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The main use: a database under mode=merged. */
final class H2Test {
  private static final String[] PROGRAM = {"H2W", "2"};
  private static final Map<Timer, Jvm.Result> RUNS = new ConcurrentHashMap<>();
  /** For what does not depend on the timer. */
  private final Jvm.Result run = run(Timer.POSIX);

  private static Jvm.Result run(Timer timer) {
    return RUNS.computeIfAbsent(
        timer,
        it -> new Jvm().agent(it, "mode=merged,interval=1ms").classpath("h2.jar").run(PROGRAM));
  }

  @Test
  void programBehavesTheSameAsWithoutTheAgent() {
    Jvm.Result plain = new Jvm().classpath("h2.jar").run(PROGRAM);
    assertEquals(plain.exit(), run.exit());
    assertEquals(withoutTimes(plain.out()), withoutTimes(run.out()));
    assertEquals(plain.err().lines().toList(), run.foreignErrors());
    assertEquals(2, run.agentLines().size(), run.err());
  }

  @Test
  void callsAreCountedExactly() {
    Report flat = run.report("--report=flat");
    assertEquals(
        221_994, flat.sum("calls", "org.h2.jdbc.JdbcPreparedStatement.setInt(int,int)"));
  }

  @ParameterizedTest
  @EnumSource(Timer.class)
  void samplesReachTheFirstFrame(Timer timer) {
    List<Map<String, String>> samples = run(timer).report("--report=samples").rows();
    assertTrue(samples.size() > 500, "only " + samples.size() + " samples");
    long cut = samples.stream().filter(row -> isCut(row.get("stack"))).count();
    assertTrue(cut * 100 <= samples.size(), cut + " of " + samples.size() + " samples are cut");
    long main =
        samples.stream().filter(row -> row.get("stack").contains("H2W.main(String[])")).count();
    assertTrue(main * 4 > samples.size(), "only " + main + " samples show H2W.main");
  }

  /** Methods that the JVM makes for method handles, which no class lists, also have names. */
  @ParameterizedTest
  @EnumSource(Timer.class)
  void everyJavaFrameHasAName(Timer timer) {
    List<String> unknown =
        run(timer).report("--report=samples").rows().stream()
            .map(row -> row.get("stack"))
            .filter(stack -> stack.contains("[unknown_java"))
            .toList();
    assertEquals(List.of(), unknown);
  }

  /** Every sample is counted once: Σ base_ticks = Σ weights of the text dump. */
  @ParameterizedTest
  @EnumSource(Timer.class)
  void ticksAreTheWeightsOfTheSamples(Timer timer) {
    Jvm.Result run = run(timer);
    long weights = 0;
    for (String line : Report.text(run.trace(), "--report=dump").lines().toList()) {
      String[] fields = line.split("\t");
      if (line.startsWith("#") || fields.length < 3 || !fields[2].startsWith("sample")) continue;
      int star = fields[2].indexOf('*');
      weights += star < 0 ? 1 : Long.parseLong(fields[2].substring(star + 1));
    }
    assertTrue(weights > 0);
    assertEquals(weights, run.report("--report=tree").sum("base_ticks"));
  }

  @Test
  void traceIsSmall() {
    assertTrue(run.trace().toFile().length() < 5_000_000, "trace: " + run.trace().toFile().length());
  }

  /** Whether the stack ends in a marker with the reason why the thread's root was not reached. */
  private static boolean isCut(String stack) {
    String outermost = stack.split(" > ")[0];
    return outermost.startsWith("[") && !outermost.startsWith("[unknown");
  }

  private static String withoutTimes(String text) {
    return text.replaceAll("\\d+ ms", "N ms");
  }
}
