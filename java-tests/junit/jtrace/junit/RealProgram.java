package jtrace.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program of a Debian package that tests record. `include`: its scope for jtrace; `prefixes`: the
 * same for the counting agent; `leastMethods`: how many methods it calls at least; `jitter`:
 * methods that depend on timing, such as caches that collections empty.
 */
record RealProgram(
    String name, int leastMethods, String include, String prefixes, String jitter, List<String> jars,
    List<String> arguments) {
  private static final List<String> SHELL =
      List.of(
          "org.h2.tools.Shell", "-url", "jdbc:h2:mem:oracle", "-sql",
          "create table t(id int primary key, c int, note varchar);"
              + " insert into t select x, mod(x, 97), 'note ' || x from system_range(1, 2000);"
              + " create index i on t(c);"
              + " select a.c, count(*), max(b.note) from t a join t b on a.id = b.c"
              + " where a.id > 20 group by a.c order by 2 desc, 1");

  /** A few queries; in the long form the workload of the benchmarks. */
  static RealProgram h2() {
    return new RealProgram(
        "H2", 1000, "org.h2.**;H2W", "org/h2/ H2W", "org.h2.value.Value.cache(", List.of("h2.jar"),
        Setup.LONG ? List.of("H2W", "1") : SHELL);
  }

  /** A few queries, with classes of its jar only. */
  static RealProgram h2OfItsJar() {
    RealProgram h2 = h2();
    return new RealProgram(
        h2.name, h2.leastMethods, "org.h2.**", "org/h2/", h2.jitter, h2.jars, SHELL);
  }

  static RealProgram clojure() {
    List<String> arguments = new ArrayList<>(List.of("clojure.main"));
    if (Setup.LONG) {
      arguments.add(Setup.SOURCE.resolve("java-tests/workloads/sequences.clj").toString());
      arguments.add("1");
    } else {
      arguments.addAll(List.of("-e", "(println (reduce + (map inc (range 9999))))"));
    }
    return new RealProgram(
        "Clojure", 1000, "clojure.**", "clojure/", "clojure.lang.DynamicClassLoader.",
        List.of("clojure.jar", "core.specs.alpha.jar", "spec.alpha.jar"), arguments);
  }

  static RealProgram ecj() {
    return new RealProgram(
        "ecj", 1000, "org.eclipse.jdt.**", "org/eclipse/jdt/", "lookup.SplitPackageBinding.",
        List.of("eclipse-jdt-core.jar"),
        List.of(
            "org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn", "-proc:none", "-d",
            classesFolder(), Setup.CASE_SOURCES.resolve("cases").toString()));
  }

  /** Sixteen threads that walk their own call paths. */
  static RealProgram sixteenThreads() {
    return new RealProgram(
        "sixteen threads", 10, "SixteenThreads*;CallPaths*", "SixteenThreads CallPaths", "", List.of(),
        List.of("SixteenThreads", Setup.LONG ? "1500" : "100"));
  }

  private static String classesFolder() {
    try {
      return Files.createTempDirectory("jtrace-ecj").toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An archive of the classes that it needs. */
  Archive archive(Archive.Kind kind, String... jvmArguments) {
    return Archive.of(
        kind, jars.stream().map(Setup::jar).map(Path::of).toList(), arguments, jvmArguments);
  }

  /** With the agent, and with more arguments for the JVM. */
  Jvm.Result run(String agentOptions, String... jvmArguments) {
    return run(new Jvm().agent(agentOptions).arguments(jvmArguments));
  }

  Jvm.Result run(Timer timer, String agentOptions) {
    return run(new Jvm().agent(timer, agentOptions));
  }

  private Jvm.Result run(Jvm jvm) {
    return jvm
        .classpath(jars.toArray(String[]::new))
        .run(arguments.toArray(String[]::new));
  }
}
