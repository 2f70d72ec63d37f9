package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** Every program of cases/ counts its own calls; the trace must say the same (S2.7). */
final class CasesTest {
  private static final Pattern EXPECT = Pattern.compile("EXPECT (\\d+) (.+)");
  private static final Pattern NEAR = Pattern.compile("EXPECT_NEAR (\\d+) (\\d+) (.+)");
  private static final Pattern REQUIRES = Pattern.compile("(?m)^// requires (\\d+)$");
  private static final Pattern OPTIONS = Pattern.compile("(?m)^// options (.+)$");

  private record Way(String name, String agentOptions, String... jvmArguments) {}

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

  @TestFactory
  Stream<DynamicTest> countsAreExact() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    try (Stream<Path> sources = Files.list(Setup.CASE_SOURCES.resolve("cases"))) {
      for (Path source : sources.sorted().toList()) {
        String text = Files.readString(source);
        Matcher requires = REQUIRES.matcher(text);
        if (requires.find() && Integer.parseInt(requires.group(1)) > Setup.JDK_MAJOR) continue;
        String main = "cases." + source.getFileName().toString().replace(".java", "");
        Matcher options = OPTIONS.matcher(text);
        String more = options.find() ? "," + options.group(1) : "";
        for (Way way : WAYS) {
          tests.add(DynamicTest.dynamicTest(main + " " + way.name(), () -> check(main, way, more)));
        }
      }
    }
    assertFalse(tests.isEmpty());
    return tests.stream();
  }

  private static void check(String main, Way way, String moreOptions) {
    Jvm.Result run =
        new Jvm()
            .agent(way.agentOptions() + moreOptions)
            .arguments(way.jvmArguments())
            .run(main);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
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
        checks.add(() -> assertTrue(Math.abs(off) <= slack, near.group(3) + " off by " + off));
      }
    }
    assertFalse(checks.isEmpty(), "the case expects nothing");
    assertAll(checks);
  }

  /** A million tasks that throw have the tree of one. */
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
