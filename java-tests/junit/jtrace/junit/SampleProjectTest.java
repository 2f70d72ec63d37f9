package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The project of java-tests/sample under JUnit's own launcher. */
final class SampleProjectTest {
  private static final Path SAMPLE = Path.of(Setup.property("jtrace.sample"));
  private static final Path JARS = Path.of(Setup.property("jtrace.api")).getParent();

  private static Jvm jvm() {
    return new Jvm()
        .classpathOf(
            SAMPLE,
            JARS.resolve("jtrace-api.jar"),
            JARS.resolve("jtrace-junit5.jar"),
            Path.of(Setup.jar("junit-platform-console-standalone.jar")),
            Path.of(Setup.jar("apiguardian-api.jar")));
  }

  private static Jvm.Result launch(Jvm jvm, String testClass) {
    return jvm.run(
        "org.junit.platform.console.ConsoleLauncher",
        "--select-class=sample." + testClass,
        "--disable-banner",
        "--disable-ansi-colors",
        "--details=tree",
        "--details-theme=ascii");
  }

  private static void assertSummary(Jvm.Result result, String... lines) {
    for (String line : lines) assertTrue(result.out().contains(line), result.out());
  }

  @Test
  void testsWithinTheirLimitsPass() {
    Jvm.Result result = launch(jvm().agent("metrics=alloc.bytes"), "CartTest");
    assertEquals(0, result.exit(), result.out() + result.err());
    assertSummary(result, "[         4 tests successful      ]", "[         0 tests skipped         ]");
  }

  @Test
  void failuresNameTheLimitTheCallPathsAndTheTrace() {
    Jvm.Result result = launch(jvm().agent("metrics=alloc.bytes"), "ExceedingTest");
    assertEquals(1, result.exit(), result.out() + result.err());
    String test = "sample.ExceedingTest.";
    assertEquals(
        """
        ExceedingTest.allocates() allocated 101,600 B, more than @MaxAllocated("2 KiB") allows (2,048 B).
        The first run of a method loads classes and fills caches, too: @Warmup(1) runs it once before it is measured.
        The call paths that allocated most:
          101,600 B  sample.ExceedingTest.allocates() > sample.Cart.print(int) > sample.Cart.page(int)
        The trace: TRACE
        ExceedingTest.callsTooOften() called sample.Cart::total 4 times, more than @ExpectCalls allows (at most 1).
        The call paths that called it most:
          4  sample.ExceedingTest.callsTooOften() > sample.Cart.shipping() > sample.Cart.total()
        The trace: TRACE
        ExceedingTest.callsTooRarely() called sample.Cart::print 0 times, less than @ExpectCalls allows (at least 1).
        The trace: TRACE
        ExceedingTest.inTheBackground() called sample.Cart::page 3 times, more than @ExpectCalls allows (at most 2).
        The call paths that called it most:
          3  sample.ExceedingTest.lambda$inTheBackground$0() > sample.Cart.print(int) > sample.Cart.page(int)
        The trace: TRACE
        """,
        messages(result).replace(result.trace().toString(), "TRACE"));
    assertEquals(100, result.report("--report=flat").sum("calls", "sample.Cart.page(int)") - 3, test);
  }

  /** The texts after "=>" in JUnit's list of failures, without stack traces. */
  private static String messages(Jvm.Result result) {
    String failures = result.out().substring(result.out().indexOf("Failures ("));
    return failures
        .lines()
        .map(line -> line.replaceFirst("^ *=> org.opentest4j.AssertionFailedError: ", "    "))
        .filter(line -> line.startsWith("    ") || line.startsWith("The ") || line.startsWith("  "))
        .filter(line -> !line.contains("JUnit Jupiter:") && !line.contains("MethodSource ["))
        .filter(line -> !line.matches(" *(\\[\\.\\.\\.\\]|[\\w$./]+\\(.*\\)|\\[Test run.*|\\[ .*)"))
        .map(line -> line.startsWith("    ") ? line.substring(4) : line)
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }

  @Test
  void copiesOfTracesAreKept() throws Exception {
    Path folder = Files.createTempDirectory("jtrace-kept");
    Jvm.Result result =
        launch(
            jvm().agent("metrics=alloc.bytes").arguments("-Djtrace.traces=" + folder),
            "ExceedingTest");
    Path kept = folder.resolve("sample.ExceedingTest.allocates.bin");
    assertTrue(result.out().contains("The trace: " + kept), result.out());
    assertEquals(100, Report.of(kept, "--report=flat").sum("calls", "sample.Cart.page(int)"));
  }

  /** A trace for each repetition, too. */
  @Test
  void limitsHoldInNestedClassesAndForEachRepetition() throws Exception {
    Path folder = Files.createTempDirectory("jtrace-kept");
    Jvm.Result result =
        launch(
            jvm().agent("metrics=alloc.bytes").arguments("-Djtrace.traces=" + folder),
            "EnclosingTest");
    assertSummary(
        result,
        "Inner.allocates() allocated 1,016 B, more than @MaxAllocated(\"0\") allows (0 B).",
        "EnclosingTest.dynamic() makes dynamic tests, which jtrace does not measure; use @Test or"
            + " @ParameterizedTest",
        "[         1 tests successful      ]",
        "[         3 tests failed          ]");
    try (var kept = Files.list(folder)) {
      assertEquals(
          List.of(
              "sample.EnclosingTest$Inner.allocates.bin",
              "sample.EnclosingTest.repeated.1.bin",
              "sample.EnclosingTest.repeated.2.bin"),
          kept.map(it -> it.getFileName().toString()).sorted().toList());
    }
  }

  /** The message's bytes are the sum of its call paths' bytes, in the first such test too. */
  @Test
  void bytesOfOtherThreadsAreExact() {
    Jvm.Result result = launch(jvm().agent("metrics=alloc.bytes"), "FamilyTest");
    assertSummary(
        result,
        "[         1 tests successful      ]",
        "[         2 tests failed          ]",
        "No ParameterResolver registered for parameter [jtrace.api.Measurement");
    String message = messages(result);
    List<Long> bytes =
        Pattern.compile("([0-9,]+) B(?:,|  )")
            .matcher(message)
            .results()
            .map(it -> Long.parseLong(it.group(1).replace(",", "")))
            .toList();
    assertEquals(3, bytes.size(), message);
    assertEquals(bytes.get(1) + bytes.get(2), bytes.get(0), message);
    assertEquals(1_000_016, bytes.get(1), message);
  }

  /** A method that cannot be counted is an error; one that is only not loaded yet has no calls. */
  @Test
  void misspeltMethodsAreErrorsThatNameTheNearest() {
    Jvm.Result result = launch(jvm().agent("metrics=alloc.bytes"), "MistakenTest");
    assertSummary(
        result,
        "aMisspeltMethod() [X] @ExpectCalls(method = \"sample.Cart::totl\"): its class has no such method;"
            + " nearest: sample.Cart::total\n",
        "bMisspeltClass() [X] @ExpectCalls(method = \"sample.Crat::total\"): no loaded class has such a"
            + " method; nearest: sample.Cart::total\n",
        "cWrongParameter() [X] @ExpectCalls(method = \"sample.Cart::page(long)\"): its class has no such"
            + " method; nearest: sample.Cart::page(int)\n",
        "dPatternOfNoClass() [X] @ExpectCalls(method = \"sample.Crat*::total\"): no loaded class has such a"
            + " method; nearest: sample.Cart::total; a class that may not be loaded yet needs its whole name",
        "eOutOfScope() [X] @ExpectCalls(method = \"java.util.ArrayList::add\"): the method has no probes",
        "fNotLoadedYet() [OK]",
        "gAllocates() [OK]");
  }

  /** Not the thread's total, which has JUnit's own allocations too. */
  @Test
  void allocationsThatAreNotRecordedAreAnErrorThatNamesTheOption() {
    Jvm.Result result = launch(jvm().agent("mode=events"), "MistakenTest");
    assertSummary(
        result,
        "gAllocates() [X] MistakenTest.gAllocates(): @MaxAllocated: alloc.bytes is not charged to call"
            + " paths in this recording; begin one with metrics=alloc.bytes\n");
    Jvm.Result elsewhere = launch(jvm().agent("metrics=alloc.bytes,include=sample.Cart"), "MistakenTest");
    assertSummary(elsewhere, "in the recording's scope: include=sample.MistakenTest\n");
  }

  /** Processor time by call path with clock=cpu, else what was called most; the cold run says so. */
  @Test
  void processorTimeIsListedByCallPath() {
    String hint = "@Warmup(1) runs it once before it is measured.\n";
    String innermost = "sample.ComputingTest.computes() > sample.Primes.sum(int) > sample.Primes.isPrime(int)";
    Jvm.Result timed = launch(jvm().agent("metrics=alloc.bytes,clock=cpu"), "ComputingTest");
    String messages = messages(timed);
    assertTrue(
        Pattern.compile("The call paths that took most:\n  [0-9,.]+ m?s  " + Pattern.quote(innermost))
            .matcher(messages)
            .find(),
        messages);
    // The first of two repetitions, and not the method that ran once before.
    assertEquals(1, messages.split(Pattern.quote(hint), -1).length - 1, messages);
    Jvm.Result counted = launch(jvm().agent("mode=events,metrics=alloc.bytes"), "ComputingTest");
    assertSummary(
        counted,
        "The call paths with the most calls (the agent's option clock=cpu shows their times):\n  199,998  "
            + innermost);
  }

  @Test
  void withoutTheAgentTestsAreSkippedOrFail() {
    Jvm.Result skipped = launch(jvm(), "CartTest");
    assertEquals(0, skipped.exit(), skipped.out());
    assertSummary(skipped, "[         3 tests aborted         ]", "[         1 tests successful      ]");
    Jvm.Result failed = launch(jvm().arguments("-Djtrace.missing=fail"), "CartTest");
    assertNotEquals(0, failed.exit());
    assertSummary(
        failed,
        "[         3 tests failed          ]",
        "the jtrace agent is not in this JVM; start it with"
            + " -agentpath:/path/to/libjtrace.so=metrics=alloc.bytes");
    assertEquals(List.of(), failed.foreignErrors());
  }
}
