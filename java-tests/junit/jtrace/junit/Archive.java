package jtrace.junit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Classes that a JVM maps instead of loading them: an AOT cache, or an archive of class data
 * sharing, made by a run of the program without jtrace. The program has to be in jars for that.
 */
final class Archive {
  enum Kind {
    /** JDK 24 and later: classes are linked before the JVM is initialised. */
    AOT_CACHE,
    /** The same, for class data sharing. */
    LINKED,
    /** All classes, including the JDK's. */
    STATIC,
    /** In addition to the JDK's own archive. */
    AT_EXIT;

    /** Whether the JDK under test can make it. */
    boolean isThere() {
      return switch (this) {
        case STATIC -> true;
        case AT_EXIT -> Files.exists(Setup.JDK.resolve("lib/server/classes.jsa"));
        default -> Setup.JDK_MAJOR >= 24;
      };
    }
  }

  private static final Pattern SHARED =
      Pattern.compile("\\[class,load\\] (\\S+) source: shared objects file.*");

  private final Kind kind;
  private final Path file;
  private final List<Path> jars;

  private Archive(Kind kind, Path file, List<Path> jars) {
    this.kind = kind;
    this.file = file;
    this.jars = jars;
  }

  /** Made by a run of `program` (main class and arguments) with `jvmArguments`. */
  static Archive of(Kind kind, List<Path> jars, List<String> program, String... jvmArguments) {
    try {
      Path folder = Files.createTempDirectory("jtrace-archive");
      Archive made = new Archive(kind, folder.resolve("archive"), jars);
      made.create(folder.resolve("classes"), program, jvmArguments);
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void create(Path classes, List<String> program, String[] jvmArguments) {
    switch (kind) {
      case AOT_CACHE:
        run(program, jvmArguments, "-XX:AOTMode=record", "-XX:AOTConfiguration=" + classes);
        run(
            List.of(), jvmArguments, "-XX:AOTMode=create", "-XX:AOTConfiguration=" + classes,
            "-XX:AOTCache=" + file);
        break;
      case AT_EXIT:
        run(program, jvmArguments, "-XX:ArchiveClassesAtExit=" + file);
        break;
      default:
        run(program, jvmArguments, "-Xshare:off", "-XX:DumpLoadedClassList=" + classes);
        List<String> dump = new ArrayList<>(List.of("-Xshare:dump"));
        if (kind == Kind.LINKED) dump.add("-XX:+AOTClassLinking");
        dump.add("-XX:SharedClassListFile=" + classes);
        dump.add("-XX:SharedArchiveFile=" + file);
        run(List.of(), jvmArguments, dump.toArray(String[]::new));
    }
    if (!Files.exists(file)) throw new AssertionError("no archive was made: " + kind);
  }

  private void run(List<String> program, String[] jvmArguments, String... more) {
    Jvm.Result run =
        jvm().arguments(jvmArguments).arguments(more).run(program.toArray(String[]::new));
    if (run.exit() != 0) throw new AssertionError(Arrays.toString(more) + run.out() + run.err());
  }

  private Jvm jvm() {
    return new Jvm().classpathOf(jars.toArray(Path[]::new));
  }

  Path file() {
    return file;
  }

  /** A JVM that uses it; `must`: the JVM does not start without it. */
  Jvm use(boolean must) {
    return jvm().arguments(flags(must));
  }

  String[] flags(boolean must) {
    if (kind == Kind.AOT_CACHE) {
      return new String[] {"-XX:AOTCache=" + file, "-XX:AOTMode=" + (must ? "on" : "auto")};
    }
    return new String[] {"-XX:SharedArchiveFile=" + file, must ? "-Xshare:on" : "-Xshare:auto"};
  }

  /** Names of the classes that a run of `jvm` took from the archive. */
  static Set<String> sharedIn(Jvm jvm, String... program) {
    Path log = Jvm.temporary("classes", ".log");
    Jvm.Result run = jvm.arguments("-Xlog:class+load:file=" + log + ":tags").run(program);
    if (run.exit() != 0) throw new AssertionError(run.exit() + run.err());
    return shared(log);
  }

  static Set<String> shared(Path log) {
    Set<String> names = new TreeSet<>();
    try (Stream<String> lines = Files.lines(log)) {
      lines.map(SHARED::matcher).filter(Matcher::matches).forEach(it -> names.add(it.group(1)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return names;
  }

  /** The test programs in a jar. */
  static Path jarOfPrograms() {
    Path jar = Jvm.temporary("programs", ".jar");
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream zip = new JarOutputStream(out)) {
      List<Path> files = new ArrayList<>();
      try (Stream<Path> found = Files.walk(Setup.CASES)) {
        found.filter(it -> it.toString().endsWith(".class")).sorted().forEach(files::add);
      }
      for (Path it : files) {
        zip.putNextEntry(new JarEntry(Setup.CASES.relativize(it).toString()));
        zip.write(Files.readAllBytes(it));
        zip.closeEntry();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return jar;
  }
}
