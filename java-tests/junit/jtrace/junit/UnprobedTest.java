package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Every class in scope without probes is a loss, by name, for any reason. */
final class UnprobedTest {
  private static final String LAMBDAS = "cases.EightThreads";

  @Test
  void reportsHiddenClassesInScope() {
    Jvm.Result run = new Jvm().agent("mode=events").run(LAMBDAS);
    assertEquals(0, run.exit(), run.err());
    Losses losses = Losses.of(run.trace());
    Set<String> names = losses.classes().getOrDefault("hidden_class", Set.of());
    assertTrue(!names.isEmpty(), "no lambda was seen");
    assertTrue(names.stream().allMatch(name -> name.startsWith(LAMBDAS + "$$Lambda")), "" + names);
    Losses.Loss loss = losses.get("hidden_class");
    assertTrue(loss.count() >= names.size(), loss.toString());
    assertEquals("info", loss.severity());
    assertTrue(loss.what().contains(": " + LAMBDAS + "$$Lambda"), loss.what());
    assertEquals(Set.of("hidden_class"), losses.classes().keySet());
  }

  @Test
  void noLossWhereNothingIsCounted() {
    Jvm.Result run = new Jvm().agent("mode=samples").run(LAMBDAS);
    assertEquals(0, run.exit(), run.err());
    assertEquals(Map.of(), Losses.of(run.trace()).classes());
    assertEquals(0, Losses.of(run.trace()).get("hidden_class").count());
  }

  @Test
  void reportsClassesThatTheProbesRunThrough() {
    Jvm.Result run = new Jvm().agent("include=java.util.Objects;java.util.BitSet").run("JdkCalls");
    assertEquals(0, run.exit(), run.err());
    Losses losses = Losses.of(run.trace());
    assertEquals(Map.of("class.exempt", Set.of("java.util.Objects")), losses.classes());
    assertEquals(1, losses.get("class.exempt").count());
    assertEquals("info", losses.get("class.exempt").severity());
  }

  /** A method of 8,000 bytes must not grow: the JIT compiler would not compile it. */
  @Test
  void reportsAClassWithoutAMethodThatFits() throws Exception {
    Path folder = Files.createTempDirectory("jtrace-unprobed");
    Path source = folder.resolve("Full.java");
    Files.writeString(
        source,
        "interface Full { static int big(int x) { " + "x++; ".repeat(2666) + "return x; } }"
            + " class UsesFull { public static void main(String[] a) { Full.big(1); } }");
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "--release", "17", "-d", folder.toString(), source.toString());
    assertEquals(0, compiled);
    Jvm.Result run = new Jvm().classpathOf(folder).agent("mode=events").run("UsesFull");
    assertEquals(0, run.exit(), run.err());
    Losses losses = Losses.of(run.trace());
    assertEquals(Map.of("class.no_method_fits", Set.of("Full")), losses.classes());
    assertTrue(losses.get("class.no_method_fits").what().endsWith(": Full"));
    assertEquals(1, losses.get("method.huge-method").count());
    assertTrue(losses.get("method.huge-method").what().endsWith(": Full.big"));
  }

  /** Another agent changes the class in a way that the JVM does not allow for a loaded class. */
  @Test
  void reportsAClassThatTheJvmDoesNotLetChange() throws Exception {
    String spoiler = "-javaagent:" + Setup.property("jtrace.counting.agent") + "=spoil Attached";
    try (LiveJvm jvm = new LiveJvm(0, spoiler)) {
      String started = jvm.jtrace("start", "--probes", "out=s.bin", "include=Attached*");
      assertTrue(started.contains(": Attached (JVMTI_ERROR_"), started);
      jvm.ask("work 100");
      jvm.jtrace("stop");
      Path trace = jvm.folder.resolve("s.bin");
      Losses losses = Losses.of(trace);
      assertEquals(1, losses.get("class.not_retransformed").count());
      assertEquals(List.of(Set.of("Attached")), List.copyOf(losses.classes().values()));
      assertEquals(0, losses.get("class.probes_left").count());
      assertEquals(0, Report.of(trace, "--report=flat").sum("calls", "Attached.step(long)"));
      // Without probes it is unknown whether it ever ran.
      assertEquals(List.of(), Report.of(trace, "--report=never").rows());
      assertEquals(0, jvm.end());
    }
  }

  /** The JVM had its class file before the recording began, but not its superclass. */
  @Test
  void reportsAClassThatIsLoadedWhileARecordingBegins() throws Exception {
    try (LiveJvm jvm = LiveJvm.of(Setup.classpath(), List.of("HeldBack"))) {
      jvm.ask("begin");
      jvm.jtrace("start", "--probes", "out=h.bin", "include=HeldBack*");
      jvm.ask("finish");
      Path trace = jvm.folder.resolve("h.bin");
      LiveJvm.await(
          () -> {
            jvm.ask("call 1");
            jvm.jtrace("dump");
            return calls(trace) > 0;
          });
      long before = calls(trace);
      jvm.ask("call 1234");
      jvm.jtrace("stop");
      assertEquals(before + 1234, calls(trace));
      Losses losses = Losses.of(trace);
      assertEquals(Map.of("class.late", Set.of("HeldBack$Slow")), losses.classes());
      assertEquals("warning", losses.get("class.late").severity());
      assertTrue(losses.get("class.late").what().endsWith(": HeldBack$Slow"));
      assertEquals(0, jvm.end());
    }
  }

  /** No code of these runs, so it does not matter that the JVM changes them no more. */
  @Test
  void classesWithoutCodeThatRunsAreNoAlarm() throws Exception {
    Path folder = Files.createTempDirectory("jtrace-idle");
    Path source = folder.resolve("Idles.java");
    Files.writeString(
        source,
        "class Base {} class Gone extends Base {}"
            + " class Fails { static int x = 1 / Integer.parseInt(\"0\"); static void go() {} }"
            + " class FailsLater { static int x = 1 / Integer.parseInt(\"0\"); static void go() {} }"
            // To verify it, the JVM must know whether a Gone is a Base.
            + " class Unlinked { static Base b() { return new Gone(); } }"
            + " class Idles { static int n; static void tick() { n++; }"
            + " static void fail(Runnable r) { try { r.run(); } catch (Throwable t) { } }"
            + " public static void main(String[] a) throws Exception {"
            + " Class.forName(\"Unlinked\", false, Idles.class.getClassLoader());"
            + " fail(() -> Fails.go()); System.out.println(\"ready\");"
            + " var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));"
            + " for (String s; !(s = in.readLine()).equals(\"end\"); System.out.println(\"done\")) {"
            + " tick(); if (s.equals(\"fail\")) fail(() -> FailsLater.go()); }"
            + " System.out.println(\"ended\"); } }");
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "--release", "17", "-d", folder.toString(), source.toString());
    assertEquals(0, compiled);
    Files.delete(folder.resolve("Gone.class"));
    try (LiveJvm jvm = LiveJvm.of(folder.toString(), List.of("Idles"))) {
      jvm.ask("tick");
      String started = jvm.jtrace("start", "--probes", "out=i.bin");
      assertTrue(!started.contains("not allow"), started);
      jvm.ask("fail");
      jvm.ask("tick");
      String stopped = jvm.jtrace("stop");
      assertTrue(!stopped.contains("keep"), stopped);
      Path trace = jvm.folder.resolve("i.bin");
      assertEquals(2, Report.of(trace, "--report=flat").sum("calls", "Idles.tick()"));
      Losses losses = Losses.of(trace);
      assertEquals(Set.of(), losses.named("class."));
      assertEquals(0, jvm.end());
    }
  }

  private static long calls(Path trace) {
    return Report.of(trace, "--report=flat").sum("calls", "HeldBack$Slow.run()");
  }
}
