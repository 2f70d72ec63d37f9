package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Output and exit code equal those of a plain run, also under the JVM's own checks. */
final class TransparencyTest {
  private record Program(String name, List<String> jars, String... arguments) {}

  private static final List<Program> PROGRAMS =
      List.of(
          new Program("control flow", List.of(), "cases.ControlFlow"),
          new Program("exit in mid-call", List.of(), "Exits", "exit"),
          new Program("halt in mid-call", List.of(), "Exits", "halt"),
          new Program("uncaught exception", List.of(), "Exits", "throw"),
          new Program(
              "clojure",
              List.of("clojure.jar", "core.specs.alpha.jar", "spec.alpha.jar"),
              "clojure.main",
              "-e",
              "(println (reduce + (map #(* % %) (range 20000))))"),
          new Program(
              "ecj", List.of("eclipse-jdt-core.jar"), "org.eclipse.jdt.internal.compiler.batch.Main", "-version"));

  private static final List<String[]> CHECKS =
      List.of(new String[] {}, new String[] {"-Xcheck:jni", "-Xverify:all"});

  @TestFactory
  Stream<DynamicTest> outputAndExitCodeDoNotChange() {
    return PROGRAMS.stream()
        .flatMap(
            program ->
                CHECKS.stream()
                    .map(
                        arguments ->
                            DynamicTest.dynamicTest(
                                program.name() + " " + String.join(" ", arguments),
                                () -> compare(program, arguments))));
  }

  /** The probes themselves run through parts of the JDK, which must not get probes. */
  @TestFactory
  Stream<DynamicTest> outputAndExitCodeDoNotChangeWithTheJdkInScope() {
    return Stream.of(
            "record=tree,clock=tsc,boundary=on,codes=+exception",
            "record=log,clock=cpu",
            "record=flat",
            "memory=16m,clock=coarse")
        .map(
            options ->
                DynamicTest.dynamicTest(
                    options,
                    () -> {
                      Jvm.Result plain = new Jvm().run("cases.ControlFlow");
                      Jvm.Result traced =
                          new Jvm()
                              .agent("mode=events,include=java.**;jdk.**;sun.**;cases.**," + options)
                              .run("cases.ControlFlow");
                      assertEquals(plain.exit(), traced.exit(), traced.err());
                      assertEquals(plain.out(), traced.out());
                      assertEquals(plain.err().lines().toList(), traced.foreignErrors());
                      Report flat = traced.report("--report=flat");
                      assertTrue(flat.sum("calls", "java.util.ArrayList.size()") > 0);
                    }));
  }

  private static void compare(Program program, String... jvmArguments) {
    String[] jars = program.jars().toArray(String[]::new);
    Jvm.Result plain = new Jvm().classpath(jars).arguments(jvmArguments).run(program.arguments());
    Jvm.Result traced =
        new Jvm()
            .agent("mode=merged")
            .classpath(jars)
            .arguments(jvmArguments)
            .run(program.arguments());
    assertEquals(plain.exit(), traced.exit(), traced.err());
    assertEquals(plain.out(), traced.out());
    assertEquals(plain.err().lines().toList(), traced.foreignErrors());
    assertEquals(2, traced.agentLines().size(), traced.err());
  }
}
