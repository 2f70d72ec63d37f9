package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * JVMs that map classes from an archive. With an AOT cache the program's own classes are linked before
 * VMInit, without a hook: their calls are still counted, and the cache stays in use, which it would
 * not with a hook from the start.
 */
final class ArchivesTest {
  private static final String[] PROGRAM = {
    "InTurn", "cases.ControlFlow", "cases.Recursion", "cases.ThrowingConstructors",
    "cases.LeafCallback"
  };
  private static final List<String> OF_THE_JDK =
      List.of("java.util.BitSet", "java.util.StringTokenizer");
  private static final Map<Archive.Kind, Archive> archives = new EnumMap<>(Archive.Kind.class);
  private static Path jar;

  @BeforeAll
  static void pack() {
    jar = Archive.jarOfPrograms();
  }

  private static Archive archive(Archive.Kind kind) {
    List<String> program = new ArrayList<>(List.of(PROGRAM));
    program.add("JdkCalls");
    return archives.computeIfAbsent(kind, it -> Archive.of(it, List.of(jar), program));
  }

  private static boolean isOfProgram(String name) {
    return name.startsWith("cases.") || name.equals("InTurn");
  }

  private static boolean isHidden(String name) {
    return name.contains("0x");
  }

  private static void checkRun(Jvm.Result run) {
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    Expectations.check(run);
    assertEquals(Set.of(), Losses.of(run.trace()).warnings());
  }

  /** Classes of the program are linked too, and none of the shared classes may be missing. */
  @TestFactory
  Stream<DynamicTest> linkedClassesAreSharedAndCounted() {
    List<DynamicTest> tests = new ArrayList<>();
    for (Archive.Kind kind : List.of(Archive.Kind.AOT_CACHE, Archive.Kind.LINKED)) {
      for (boolean must : new boolean[] {false, true}) {
        List<String> all = List.of("tree", "flat", "log");
        for (String record : kind == Archive.Kind.AOT_CACHE ? all : all.subList(0, 1)) {
          tests.add(
              DynamicTest.dynamicTest(
                  kind + (must ? ", on, " : ", auto, ") + record,
                  () -> linkedClasses(kind, must, record)));
        }
      }
    }
    return tests.stream();
  }

  private static void linkedClasses(Archive.Kind kind, boolean must, String record) {
    assumeTrue(kind.isThere(), "this JDK has no archives of linked classes");
    Set<String> plain = Archive.sharedIn(archive(kind).use(must), PROGRAM);
    assertTrue(plain.stream().anyMatch(ArchivesTest::isOfProgram), "no class of the program");
    Path log = Jvm.temporary("classes", ".log");
    Jvm.Result run =
        archive(kind)
            .use(must)
            .agent("record=" + record)
            .arguments("-Xlog:class+load:file=" + log + ":tags")
            .run(PROGRAM);
    checkRun(run);
    assertEquals(plain, Archive.shared(log));
  }

  /** Without linking classes are loaded when they are needed, through the hook. */
  @TestFactory
  Stream<DynamicTest> classesLoadedFromAnArchiveAreCounted() {
    List<DynamicTest> tests = new ArrayList<>();
    for (Archive.Kind kind : List.of(Archive.Kind.STATIC, Archive.Kind.AT_EXIT)) {
      for (boolean must : new boolean[] {false, true}) {
        for (String record : List.of("tree", "flat")) {
          tests.add(
              DynamicTest.dynamicTest(
                  kind + (must ? ", on, " : ", auto, ") + record,
                  () -> loadedClasses(kind, must, record)));
        }
      }
    }
    return tests.stream();
  }

  private static void loadedClasses(Archive.Kind kind, boolean must, String record) {
    assumeTrue(kind.isThere(), "this JDK has no archive of its own");
    Set<String> plain = Archive.sharedIn(archive(kind).use(must), PROGRAM);
    assertTrue(plain.stream().anyMatch(ArchivesTest::isOfProgram), "no class of the program");
    Path log = Jvm.temporary("classes", ".log");
    Jvm.Result run =
        archive(kind)
            .use(must)
            .agent("record=" + record)
            .arguments("-Xlog:class+load:file=" + log + ":tags")
            .run(PROGRAM);
    checkRun(run);
    // Classes that the hook changes are not shared any more. Nor are lambdas, and the forms of
    // method handles that the JVM generated for the archive: it has no class file for a hook.
    Set<String> missing = new TreeSet<>(plain);
    missing.removeAll(Archive.shared(log));
    missing.removeIf(name -> isOfProgram(name) || isHidden(name) || name.endsWith("$Holder"));
    assertEquals(Set.of(), missing);
  }

  /** The JDK has its own archive; the first of these is in use before VMInit. */
  @TestFactory
  Stream<DynamicTest> classesOfTheJdkAreCounted() {
    return Stream.of("default", "none", "AOT cache", "AOT cache, log")
        .map(archive -> DynamicTest.dynamicTest(archive, () -> classesOfTheJdk(archive)));
  }

  private static void classesOfTheJdk(String archive) {
    Jvm jvm = new Jvm().arguments(archive.equals("none") ? "-Xshare:off" : "-Xshare:auto");
    if (archive.startsWith("AOT")) {
      assumeTrue(Archive.Kind.AOT_CACHE.isThere(), "this JDK has no AOT cache");
      jvm = archive(Archive.Kind.AOT_CACHE).use(true);
    }
    String include = "include=" + String.join(";", OF_THE_JDK);
    checkRun(jvm.agent(include + (archive.endsWith("log") ? ",record=log" : "")).run("JdkCalls"));
  }

  /** The agent is attached, stopped, and attached again. */
  @Test
  void attachedCountsAreExact() throws Exception {
    assumeTrue(Archive.Kind.AOT_CACHE.isThere(), "this JDK has no AOT cache");
    Archive cache = Archive.of(Archive.Kind.AOT_CACHE, List.of(jar), List.of("Attached", "0"));
    try (LiveJvm jvm = LiveJvm.of(jar.toString(), List.of("Attached", "2"), cache.flags(true))) {
      for (String record : List.of("tree", "flat", "tree")) {
        jvm.jtrace("start", "--probes", "out=a.bin", "record=" + record);
        assertEquals("worked", jvm.ask("work 4321"));
        jvm.jtrace("stop");
        Path trace = jvm.folder.resolve("a.bin");
        assertEquals(4321, Report.of(trace, "--report=flat").sum("calls", "Attached.step(long)"));
        assertEquals(Set.of(), Losses.of(trace).named("class."));
      }
      assertEquals(0, jvm.end());
    }
  }

  /** From the start, with threads that already run before the main class is loaded. */
  @Test
  void countsFromTheStartAreExact() throws Exception {
    assumeTrue(Archive.Kind.AOT_CACHE.isThere(), "this JDK has no AOT cache");
    Archive cache = Archive.of(Archive.Kind.AOT_CACHE, List.of(jar), List.of("Attached", "0"));
    Path trace = Jvm.temporary("trace", ".bin");
    String agent = "-agentpath:" + Setup.AGENT + "=out=" + trace;
    try (LiveJvm jvm =
        LiveJvm.of(
            jar.toString(), List.of("Attached", "2"),
            Stream.concat(Stream.of(agent), Stream.of(cache.flags(true))).toArray(String[]::new))) {
      assertEquals("worked", jvm.ask("work 4321"));
      jvm.jtrace("stop");
      assertEquals(4321, Report.of(trace, "--report=flat").sum("calls", "Attached.step(long)"));
      assertEquals(0, jvm.end());
    }
  }
}
