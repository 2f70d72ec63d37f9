package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The commands of the README and the user guide, run unchanged, one after the other. */
final class DocsTest {
  private static final String COMMAND = "build/bin/jtrace ";

  /**
   * Both pages in one folder, and a command that stands there again only once: it would write and
   * read the same. So that each page works alone, what it reads must be recorded in it.
   */
  @Test
  void commandsWork() throws IOException {
    Path folder = applications();
    Set<String> done = new HashSet<>();
    for (String page : List.of("README.md", "docs/USER-GUIDE.md")) {
      List<String> commands = commands(Setup.SOURCE.resolve(page));
      assertTrue(commands.size() >= 5, page + " shows only " + commands);
      assertRecordsWhatItReads(page, commands);
      runAll(folder, commands, done);
    }
  }

  /** The server, which uses a processor, runs only while commands are about it. */
  private static void runAll(Path folder, List<String> commands, Set<String> done)
      throws IOException {
    List<String> live =
        commands.stream()
            .filter(it -> it.startsWith(COMMAND) && !it.endsWith("--help"))
            .toList();
    int first = commands.indexOf(live.get(0));
    int last = commands.lastIndexOf(live.get(live.size() - 1));
    for (String command : commands.subList(0, first)) runOnce(folder, command, done);
    Process server = startServer(folder);
    try {
      for (String command : commands.subList(first, last + 1)) runOnce(folder, command, done);
    } finally {
      server.destroyForcibly();
    }
    for (String command : commands.subList(last + 1, commands.size())) {
      runOnce(folder, command, done);
    }
  }

  private static void assertRecordsWhatItReads(String page, List<String> commands) {
    Set<String> recorded = new HashSet<>();
    for (String command : commands) {
      output(command).ifPresent(recorded::add);
      for (String word : command.split(" ")) {
        if (word.matches("\\w+[.]bin")) assertTrue(recorded.contains(word), page + ": " + command);
      }
    }
  }

  /** The trace that a command records. */
  private static Optional<String> output(String command) {
    Matcher out = Pattern.compile("\\bout=(\\w+[.]bin)").matcher(command);
    return out.find() ? Optional.of(out.group(1)) : Optional.empty();
  }

  private static void runOnce(Path folder, String command, Set<String> done) {
    // A program that runs changes meanwhile.
    if (!done.add(command) && !command.startsWith(COMMAND)) return;
    // What was read from an older trace of this name is another command now.
    output(command)
        .ifPresent(trace -> done.removeIf(it -> it.contains(trace) && !it.equals(command)));
    Jvm.Result result = shell(folder, command);
    assertEquals(0, result.exit(), command + "\n" + result.err());
    assertFalse(result.out().isEmpty() && !command.contains(" -o "), command);
  }

  private static Path applications() throws IOException {
    Path folder = Files.createTempDirectory("jtrace-docs");
    Files.createSymbolicLink(folder.resolve("build"), Setup.POST.getParent().getParent());
    makeApplication(folder, "app.jar", "H2W", "H2W.main(new String[] {\"1\", \"4000\"})");
    makeApplication(folder, "server.jar", "Attached", "Attached.main(new String[] {\"1\"})");
    makeApplication(folder, "primes.jar", "Primes", "Primes.main(a)");
    Files.copy(
        Setup.SOURCE.resolve("java-tests/workloads/Primes.java"), folder.resolve("Primes.java"));
    // Since 22, java runs a source file only from the folder of its package.
    String shop = Files.readString(Setup.SOURCE.resolve("java-tests/api/programs/Shop.java"));
    Files.writeString(folder.resolve("Shop.java"), shop.replace("package programs;", ""));
    return folder;
  }

  /** The running program that the README's commands use. */
  private static Process startServer(Path folder) throws IOException {
    Process server =
        new ProcessBuilder(Setup.java(), "-jar", "server.jar")
            .directory(folder.toFile())
            .redirectError(folder.resolve("server.txt").toFile())
            .start();
    assertEquals("ready", server.inputReader().readLine());
    return server;
  }

  @Test
  void scriptsOfTheReadmeExist() throws IOException {
    for (String line : Files.readAllLines(Setup.SOURCE.resolve("README.md"))) {
      if (!line.startsWith("scripts/")) continue;
      Path script = Setup.SOURCE.resolve(line.split("\\s")[0]);
      assertTrue(Files.isExecutable(script), script.toString());
    }
  }

  /** The API's snippet does what its comments say, in a program that has its methods. */
  @Test
  void snippetOfTheApiRuns() throws IOException {
    Path folder = Files.createTempDirectory("jtrace-snippet");
    Path classes = compile(folder, "Snippet.java",
        """
        package com.acme;

        import jtrace.api.*;

        final class Cache {
          static byte[] load() {
            return new byte[1000];
          }

          static byte[] getPage(String name) {
            return new byte[2000];
          }
        }

        public class Snippet {
          static Object parse(String text) {
            return text.split(",");
          }

          static void work() {
            Cache.load();
            Thread other = new Thread(() -> Cache.getPage("page"));
            other.start();
            try {
              other.join();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }

          public static void main(String[] args) {
            String text = "a,b,c";
            Cache.load();
        %s
            System.out.println("before " + (before > 0));
            System.out.println("one " + one.get(Metric.ALLOC_BYTES));
            System.out.println("each " + each.get(Metric.ALLOC_BYTES));
            System.out.println("loads " + loads);
            System.out.println("orders " + JTrace.processTotal(Metric.named("user.orders")));
          }
        }
        """.formatted(snippet(0)));
    Jvm.Result run = new Jvm().classpathOf(API, classes).agent("metrics=alloc.bytes")
        .run("com.acme.Snippet");
    assertEquals(0, run.exit(), run.err());
    List<String> lines = run.out().lines().toList();
    for (String expected : List.of("before true", "orders 1",
        "loads MethodStats[calls=1, outermostCalls=1, base=1016, cum=1016]")) {
      assertTrue(lines.contains(expected), expected + " in " + run.out());
    }
    assertTrue(lines.stream().anyMatch(line -> line.matches("one [1-9].*")), run.out());
    assertTrue(lines.stream().anyMatch(line -> line.matches("each [1-9].*")), run.out());
    String path = "com.acme.Cache.getPage(String)";
    assertTrue(lines.stream().anyMatch(line -> line.endsWith(path)), run.out());
  }

  /** The test that the API's README shows, with a body. */
  @Test
  void snippetOfTheTestsCompiles() throws IOException {
    Path folder = Files.createTempDirectory("jtrace-snippet");
    compile(folder, "CartTest.java",
        "import jtrace.junit5.*;\nimport org.junit.jupiter.api.*;\n"
            + "import org.junit.jupiter.api.extension.*;\n" + snippet(1).replace("…", ""));
  }

  private static final Path API = Path.of(Setup.property("jtrace.api"));

  /** The text of a Java fence of the API's README. */
  private static String snippet(int number) throws IOException {
    String[] fences = Files.readString(Setup.SOURCE.resolve("agent/api/README.md")).split("```java\n");
    return fences[1 + number].substring(0, fences[1 + number].indexOf("```"));
  }

  /** Returns the folder with the classes. */
  private static Path compile(Path folder, String name, String text) throws IOException {
    Path source = folder.resolve(name);
    Files.writeString(source, text);
    String classpath = API + ":" + API.resolveSibling("jtrace-junit5.jar") + ":"
        + Setup.jar("junit-jupiter-api.jar") + ":" + Setup.jar("apiguardian-api.jar");
    run("bin/javac", "-cp", classpath, "-d", folder.toString(), source.toString());
    return folder;
  }

  /** Lines after "$ " inside console fences. */
  private static List<String> commands(Path readme) throws IOException {
    List<String> commands = new ArrayList<>();
    boolean inside = false;
    for (String line : Files.readAllLines(readme)) {
      if (line.startsWith("```")) inside = line.equals("```console");
      if (inside && line.startsWith("$ ")) commands.add(line.substring(2));
    }
    return commands;
  }

  /** A jar whose main class runs `call` of a program of java-tests/workloads. */
  private static void makeApplication(Path folder, String jar, String program, String call)
      throws IOException {
    Path manifest = folder.resolve("manifest.txt");
    Files.writeString(manifest, "Main-Class: App\nClass-Path: " + Setup.jar("h2.jar") + "\n");
    Path source = folder.resolve("App.java");
    Files.writeString(
        source,
        "public class App { public static void main(String[] a) throws Exception { "
            + call
            + "; } }\n");
    Path classes = folder.resolve(jar + ".classes");
    run("bin/javac", "-cp", Setup.CASES.toString(), "-d", classes.toString(), source.toString());
    run(
        "bin/jar", "cfm", folder.resolve(jar).toString(), manifest.toString(), "-C",
        classes.toString(), ".", "-C", Setup.CASES.toString(), program + ".class");
  }

  private static void run(String tool, String... arguments) {
    List<String> command = new ArrayList<>(List.of(Setup.JDK.resolve(tool).toString()));
    command.addAll(List.of(arguments));
    Jvm.Result result = Jvm.execute(command, null);
    assertEquals(0, result.exit(), command + "\n" + result.err());
  }

  private static Jvm.Result shell(Path folder, String command) {
    String script =
        "cd '" + folder + "' && PATH='" + Setup.JDK.resolve("bin") + "':$PATH && " + command;
    return Jvm.execute(List.of("bash", "-c", script), null);
  }
}
