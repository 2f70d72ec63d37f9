package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** {@code jtrace-api.jar}, used by programs of java-tests/api, each in its own JVM. */
final class ApiTest {
  private static final Path API = Path.of(Setup.property("jtrace.api"));
  private static final Path PROGRAMS = Path.of(Setup.property("jtrace.api.programs"));

  static Jvm jvm() {
    return new Jvm().arguments("-Xcheck:jni").classpathOf(API, PROGRAMS);
  }

  /** The values that a program printed as "name=value". */
  static Map<String, String> printed(Jvm.Result result) {
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
  void withoutTheAgentEveryCallDoesNothing() {
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
    expected.put("refused orders/s,", "true");
    expected.put("refused ,", "true");
    expected.put("refused orders,a b", "true");
    expected.put("refused label tenant id", "true");
    expected.put("refused label ", "true");
    expected.put("label", "true");
    expected.put("segment", "true");
    expected.put("refused segment", "a segment needs a name");
    expected.put("bytes", "0");
    assertEquals(expected, printed(result));
  }

  /** The names of docs/OPTIONS.md, and another one. */
  private static Set<String> documentedMetrics(String another) throws IOException {
    Set<String> names = new TreeSet<>(Set.of(another));
    Pattern row = Pattern.compile("\\| `([a-z.]+)` \\| (?:path|thread|process) \\|.*");
    for (String line : Files.readAllLines(Setup.SOURCE.resolve("docs/OPTIONS.md"))) {
      Matcher matcher = row.matcher(line);
      if (matcher.matches()) names.add(matcher.group(1));
    }
    return names;
  }

  /** All queries of a program whose allocations and calls are known. */
  @Test
  void totalsMethodsAndWindowsAreExact() throws IOException {
    for (String mode : List.of("-Xmixed", "-Xint")) {
      Path second = Jvm.temporary("second", ".bin");
      Jvm.Result result =
          jvm()
              .agent("metrics=alloc.bytes")
              .arguments(mode, "-Dsecond=" + second)
              .run("programs.Metrics");
      String running = result.trace() + "; stop it first";
      String expected =
          """
          active=true
          metrics=true
          like the JDK's=yes
          own=101600
          nothing=0
          ended thread=true
          process=true
          readers=1016 2032 3048 0 0
          cpu=true
          measure=alloc.bytes 101,600 B
          perRun=2032 in 26
          counter=user.orders 7 7
          array=MethodStats[calls=15, outermostCalls=15, base=15, cum=15]
          nested=MethodStats[calls=5, outermostCalls=1, base=5, cum=10]
          bytes=MethodStats[calls=5, outermostCalls=1, base=0, cum=5080]
          none=MethodStats[calls=0, outermostCalls=0, base=0, cum=0]
          window thread=MethodStats[calls=1, outermostCalls=1, base=0, cum=3048]
          window family=MethodStats[calls=3, outermostCalls=3, base=0, cum=12192]
          window process=MethodStats[calls=3, outermostCalls=3, base=0, cum=12192]
          window total=true
          paths=3
          path=3048 programs.Metrics.windows() > programs.Metrics.arrays(int,int) > \
          programs.Metrics.array(int)
          pattern=IllegalArgumentException: 'array' names no method; write com.acme.Cache::load, \
          java.sql.*::execute* or Cache::load(String,int) with the package
          running=IllegalStateException: a recording already runs, to %s
          metric=IllegalArgumentException: no metric is called alloc.byts; these are: %s
          no thread=NullPointerException: no thread; use JTrace.processTotal for all
          no room=IllegalArgumentException: 2 metrics and room for 1 totals
          closed=IllegalStateException: this window is closed, or its recording has ended
          stopped=IllegalStateException: no recording runs; begin one with start
          window=IllegalStateException: no recording runs; begin one with start
          second recording=MethodStats[calls=1, outermostCalls=1, base=0, cum=6096]
          dump=true
          """
              .formatted(running, String.join(" ", documentedMetrics("user.orders")));
      assertEquals(expected, result.out(), mode + "\n" + result.err());
      assertEquals(List.of(), result.foreignErrors());
      assertEquals(
          "before the end",
          Report.text(second, "--report=dump").lines()
              .filter(line -> line.contains("\tmark\t"))
              .map(line -> line.substring(line.lastIndexOf('\t') + 1))
              .findFirst()
              .orElse(""));
    }
  }

  @Test
  void managementClientsQueryByNames() {
    Jvm.Result result = jvm().agent("metrics=alloc.bytes").run("programs.Managed");
    Map<String, String> printed = printed(result);
    assertTrue(printed.remove("alloc.bytes").contains("; B; exact"), result.out());
    Map<String, String> expected = new LinkedHashMap<>();
    expected.put("active", "true");
    expected.put("calls", "1");
    expected.put("outermostCalls", "1");
    expected.put("base", "0");
    expected.put("cum", "7112");
    expected.put("process", "true");
    expected.put("thread", "true");
    expected.put("status", "true");
    expected.put("dump", result.trace().toString());
    assertEquals(expected, printed);
    assertEquals(List.of(), result.foreignErrors());
  }

  /** The jar finds an agent that is attached while the program runs. */
  @Test
  void findsAnAgentThatIsAttachedLater() throws Exception {
    Path trace = Jvm.temporary("later", ".bin");
    Process process =
        new ProcessBuilder(Setup.java(), "-cp", API + ":" + PROGRAMS, "programs.Later")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (var out = process.inputReader()) {
      assertEquals("before=false 0", out.readLine());
      Jvm.Result started =
          Jvm.execute(
              List.of(
                  Setup.COMMAND.toString(),
                  "start",
                  "--probes",
                  Long.toString(process.pid()),
                  "out=" + trace,
                  "metrics=alloc.bytes"),
              null);
      assertEquals(0, started.exit(), started.err());
      process.outputWriter().append('\n').flush();
      assertEquals("after=true 5080", out.readLine());
      assertEquals(
          "method=MethodStats[calls=2, outermostCalls=2, base=2, cum=8]", out.readLine());
      assertEquals("counted=16 of 17", out.readLine());
      assertEquals(0, process.waitFor());
    } finally {
      process.destroyForcibly();
    }
  }

  /** The profiler for JMH, run as JMH would: stubs replace its classes, and are in no jar. */
  @Test
  void jmhGetsMetricsOfEachOperation() throws Exception {
    Path jar = API.resolveSibling("jtrace-jmh.jar");
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      assertTrue(zip.stream().noneMatch(entry -> entry.getName().startsWith("org/")));
    }
    Path out = Files.createTempDirectory("jtrace-jmh");
    Path stub = Path.of(Setup.property("jtrace.jmh.stub"));
    Jvm.Result result =
        jvm()
            .classpathOf(API, jar, PROGRAMS, stub)
            .agent("metrics=alloc.bytes")
            .run("programs.Iterations", out.toString());
    Map<String, String> expected = new LinkedHashMap<>();
    expected.put(
        "options",
        "[-agentpath:/lib/libjtrace.so=log=off,out="
            + out
            + "/jmh-%p.bin,metrics=alloc.bytes;cpu.ns]");
    expected.put("alloc.bytes", "1016 B/op");
    expected.put("cpu.ns", "true ns/op");
    expected.put("kept", "true");
    expected.put("service", "jtrace.jmh.JTraceProfiler");
    expected.put(
        "wrong",
        "'dir=x' is none of: out=DIR; metrics=alloc.bytes,cpu.ns; libPath=/path/to/libjtrace.so");
    assertEquals(expected, printed(result));
    Path kept = out.resolve("com.acme.Bench.array.bin");
    assertEquals(
        200_000,
        Report.of(kept, "--report=flat").sum("calls", "programs.Iterations.operation()"));
  }

  /** A pattern of an interface or an abstract class means its implementations. */
  @Test
  void patternsMeanImplementations() {
    Jvm.Result result = jvm().agent("").run("programs.Shapes");
    assertEquals(0, result.exit(), result.err());
    // Disc.area calls Circle.area: nested where the pattern matches both.
    assertEquals(
        """
        sum 280
        Shape::area 45 40
        Named::name() 20 20
        Shape::t* 5 5
        Circle::area 25 25
        Disc::area 5 5
        """,
        result.out());
  }
}
