package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every program of cases/ counts its own calls; the trace must say the same (S2.7). */
final class CasesTest {
  private static final Pattern REQUIRES = Pattern.compile("(?m)^// requires (\\d+)$");
  private static final Pattern OPTIONS = Pattern.compile("(?m)^// options (.+)$");

  private record Way(String name, String agentOptions, String... jvmArguments) {
    /** The event that it tests happens only once in a JVM. */
    boolean apart() {
      return agentOptions.contains("logbudget");
    }
  }

  private static final List<Way> WAYS =
      List.of(
          new Way("merged", "mode=merged"),
          new Way("events", "mode=events"),
          new Way("flat", "mode=events,record=flat"),
          new Way("log", "mode=merged,record=log"),
          new Way("log with times", "mode=events,record=log,clock=tsc"),
          new Way("log, interpreted", "mode=events,record=log,clock=cpu", "-Xint"),
          new Way("log that ends early", "mode=events,record=log,logbudget=1k"),
          new Way("coarse clock", "mode=events,clock=coarse"),
          new Way("processor time", "mode=merged,clock=cpu"),
          new Way("interpreted", "mode=merged", "-Xint"),
          new Way("C1", "mode=merged", "-XX:TieredStopAtLevel=1"),
          new Way("samples every 100 us", "mode=merged,interval=100us"));

  /** `options`: the agent options that it needs, each with a comma before it. */
  private record Case(String main, String options) {}

  /**
   * Each way runs all programs in one JVM, and begins with another program than the ways before it.
   * A program with its own options has its own JVM, and so does each program in a way that needs
   * it. The long form: each program and way in its own JVM.
   */
  @TestFactory
  Stream<DynamicTest> countsAreExact() throws IOException {
    List<Case> cases = cases();
    List<Case> together = cases.stream().filter(it -> it.options().isEmpty()).toList();
    assertTrue(together.size() > 1);
    List<DynamicTest> tests = new ArrayList<>();
    for (int i = 0; i < WAYS.size(); i++) {
      List<String> mains = new ArrayList<>(together.stream().map(Case::main).toList());
      Collections.rotate(mains, i);
      tests.add(test("all", mains, WAYS.get(i), ""));
    }
    for (Case one : cases) {
      for (int i = 0; i < WAYS.size(); i++) {
        boolean apart = one.options().isEmpty() ? WAYS.get(i).apart() : i % 3 == 0;
        if (!Setup.LONG && !apart) continue;
        tests.add(test(one.main(), List.of(one.main()), WAYS.get(i), one.options()));
      }
    }
    return tests.stream();
  }

  private static List<Case> cases() throws IOException {
    List<Case> cases = new ArrayList<>();
    try (Stream<Path> sources = Files.list(Setup.CASE_SOURCES.resolve("cases"))) {
      for (Path source : sources.sorted().toList()) {
        String text = Files.readString(source);
        Matcher requires = REQUIRES.matcher(text);
        if (requires.find() && Integer.parseInt(requires.group(1)) > Setup.JDK_MAJOR) continue;
        Matcher options = OPTIONS.matcher(text);
        String main = "cases." + source.getFileName().toString().replace(".java", "");
        cases.add(new Case(main, options.find() ? "," + options.group(1) : ""));
      }
    }
    return cases;
  }

  private static DynamicTest test(String name, List<String> mains, Way way, String moreOptions) {
    return DynamicTest.dynamicTest(
        name + ", " + way.name(), () -> check(mains, way, moreOptions));
  }

  private static void check(List<String> mains, Way way, String moreOptions) {
    List<String> command = new ArrayList<>(List.of("InTurn"));
    command.addAll(mains);
    Jvm.Result run =
        new Jvm()
            .agent(way.agentOptions() + moreOptions)
            .arguments(way.jvmArguments())
            .run(command.toArray(String[]::new));
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    String[] outputs = run.out().split("ENDED \\S+\n", -1);
    assertEquals(mains.size() + 1, outputs.length, run.out());
    for (int i = 0; i < mains.size(); i++) {
      assertTrue(outputs[i].contains("EXPECT"), mains.get(i) + " expects nothing");
    }
    Expectations.check(run);
  }

  /** A million tasks that throw have the same tree as one. */
  @TestFactory
  Stream<DynamicTest> throwingTasksHaveTheTreeOfOne() {
    return Stream.of("", "-Xint")
        .map(
            argument ->
                DynamicTest.dynamicTest(
                    argument.isEmpty() ? "compiled" : "interpreted",
                    () -> {
                      int many = argument.isEmpty() ? 1_000_000 : 20_000;
                      assertEquals(taskTree(1, argument), taskTree(many, argument));
                    }));
  }

  private static List<String> taskTree(int tasks, String argument) {
    Jvm jvm = new Jvm().agent("mode=events");
    if (!argument.isEmpty()) jvm.arguments(argument);
    Jvm.Result run = jvm.run("cases.ThrowingTasks", Integer.toString(tasks));
    assertEquals(0, run.exit(), run.err());
    List<String> tree = new ArrayList<>();
    for (Map<String, String> row : run.report("--report=tree").rows()) {
      if (row.get("name").startsWith("cases.")) tree.add(row.get("level") + " " + row.get("name"));
    }
    assertFalse(tree.isEmpty());
    return tree.stream().sorted().toList();
  }
}
