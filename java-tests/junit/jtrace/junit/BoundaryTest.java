package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** boundary=on: calls that leave the scope are separate nodes (S2.2). */
final class BoundaryTest {
  private static final long ROUNDS = 20_000;
  private static final String B = "Boundary.";

  /** The tree of the main thread: path without the thread → calls. */
  private static Map<String, Long> paths(Report tree) {
    Map<String, Long> paths = new TreeMap<>();
    List<String> open = new ArrayList<>();
    boolean main = false;
    for (Map<String, String> row : tree.rows()) {
      int level = Integer.parseInt(row.get("level"));
      if (level == 0) {
        main = row.get("name").equals("main");
        continue;
      }
      if (!main) continue;
      while (open.size() >= level) open.remove(open.size() - 1);
      open.add(row.get("name"));
      paths.merge(String.join(" > ", open), Long.parseLong(row.get("calls")), Long::sum);
    }
    return paths;
  }

  private static Map<String, Long> expected() {
    Map<String, Long> paths = new TreeMap<>();
    String main = B + "main(String[])";
    paths.put(main, 1L);
    paths.put(main + " > java.io.PrintStream.println(String)", 1L);
    String callBack = main + " > " + B + "callBack(int)";
    String throwOut = main + " > " + B + "throwOut(int)";
    String construct = main + " > " + B + "construct(int)";
    String inherited = main + " > " + B + "inherited(int)";
    String sub = construct + " > Boundary$Sub.<init>(int)";
    for (String path :
        List.of(
            callBack,
            callBack + " > java.util.HashMap.<init>()",
            callBack + " > java.util.Map.computeIfAbsent(Object,Function)",
            callBack + " > java.util.Map.computeIfAbsent(Object,Function) > " + B + "square(int)",
            callBack + " > java.util.ArrayList.<init>()",
            callBack + " > java.util.List.add(Object)",
            callBack + " > java.util.List.forEach(Consumer)",
            callBack + " > java.util.List.forEach(Consumer) > " + B + "take(int)",
            callBack + " > " + B + "after()",
            throwOut,
            throwOut + " > java.lang.Integer.parseInt(String)",
            throwOut + " > " + B + "caughtInside()",
            throwOut + " > " + B + "parse(String)",
            throwOut + " > " + B + "parse(String) > java.lang.Integer.parseInt(String)",
            throwOut + " > " + B + "caughtOutside()",
            construct,
            sub,
            sub + " > java.lang.Math.max(int,int)",
            sub + " > java.util.ArrayList.<init>(int)",
            sub + " > java.util.ArrayList.add(Object)",
            sub + " > java.lang.Math.abs(int)",
            sub + " > java.lang.Integer.valueOf(int)",
            inherited,
            inherited + " > java.lang.Object.clone()",
            inherited + " > java.lang.System.arraycopy(Object,int,Object,int,int)")) {
      paths.put(path, ROUNDS);
    }
    paths.put(callBack + " > java.lang.Integer.valueOf(int)", 2 * ROUNDS);
    return paths;
  }

  @TestFactory
  Stream<DynamicTest> treeEqualsTheCallsOfTheProgram() {
    return Stream.of("-Xmixed", "-Xint", "-XX:TieredStopAtLevel=1", "-Xcheck:jni")
        .map(
            argument ->
                DynamicTest.dynamicTest(
                    argument,
                    () -> {
                      Jvm.Result run =
                          new Jvm()
                              .agent("mode=events,boundary=on")
                              .arguments(argument)
                              .run("Boundary");
                      assertEquals(0, run.exit(), run.err());
                      assertEquals(List.of(), run.foreignErrors());
                      assertEquals(expected(), paths(run.report("--report=tree")));
                    }));
  }

  @Test
  void flatCountsCallsToo() {
    Jvm.Result run = new Jvm().agent("mode=events,boundary=on,record=flat").run("Boundary");
    Report flat = run.report("--report=flat");
    assertEquals(2 * ROUNDS, flat.sum("calls", "java.lang.Integer.parseInt(String)"));
    assertEquals(ROUNDS, flat.sum("calls", B + "square(int)"));
  }

  @Test
  void withoutBoundaryTheTreeHasNoCallsOutOfScope() {
    Jvm.Result run = new Jvm().agent("mode=events").run("Boundary");
    for (String path : paths(run.report("--report=tree")).keySet()) {
      assertTrue(!path.contains("java."), path);
    }
  }

  @Test
  void summaryHasThePlannersNumbers() {
    Jvm.Result run = new Jvm().agent("mode=events,boundary=on").run("Boundary");
    Map<String, String> facts = new TreeMap<>();
    for (Map<String, String> row : run.report("--report=summary").rows()) {
      facts.put(row.get("key"), row.get("value"));
    }
    List<Executable> checks = new ArrayList<>();
    Map.of(
            "planner.classes_seen", "2",
            "planner.classes_rewritten", "2",
            "planner.methods_seen", "13",
            "planner.methods_probed", "13",
            "planner.probe.entry", "8",
            "planner.probe.leaf", "5",
            "planner.probe.resume", "2",
            "planner.probe.call", "17",
            "planner.call.invokedynamic", "4",
            "planner.call.object-constructor", "1")
        .forEach((key, value) -> checks.add(() -> assertEquals(value, facts.get(key), key)));
    assertAll(checks);
    assertTrue(Report.text(run.trace(), "--report=summary").contains("17 call"));
  }

  /** A rule of the user leaves callees out; a bad rule is refused at the start. */
  @Test
  void rulesCanBeAdded() throws Exception {
    Path rules = Jvm.temporary("rules", ".txt");
    Files.writeString(rules, "none java.lang.Integer.*\n");
    Jvm.Result run = new Jvm().agent("mode=events,boundary=on,costs=" + rules).run("Boundary");
    Report flat = run.report("--report=flat");
    assertEquals(0, flat.sum("calls", "java.lang.Integer.parseInt(String)"));
    assertEquals(ROUNDS, flat.sum("calls", "java.util.List.add(Object)"));
    Files.writeString(rules, "never java.lang.Integer.*\n");
    run = new Jvm().agent("mode=events,boundary=on,costs=" + rules).run("Boundary");
    assertEquals(1, run.exit());
    assertTrue(run.err().contains("line 1 is not"), run.err());
  }

  /** The class of a call belongs to the loader that defined it, not to the caller's loader. */
  @Test
  void calleesHaveTheirOwnLoader() {
    Report flat =
        new Jvm()
            .agent("mode=events,boundary=on,include=Loaders$Caller")
            .run("Loaders")
            .report("--report=flat");
    assertEquals(1000, flat.sum("calls", "Loaders$Callee.work()"));
    long callers =
        flat.rows().stream().filter(row -> row.get("name").startsWith("Loaders$Caller.run()")).count();
    assertEquals(2, callers);
  }
}
