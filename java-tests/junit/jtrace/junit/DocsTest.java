package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of the README and the user guide, run unchanged, one after the other. */
final class DocsTest {
  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/USER-GUIDE.md"})
  void commandsWork(String page) throws IOException {
    List<String> commands = commands(Setup.SOURCE.resolve(page));
    assertTrue(commands.size() >= 5, page + " shows only " + commands);
    Path folder = Files.createTempDirectory("jtrace-docs");
    Files.createSymbolicLink(folder.resolve("build"), Setup.POST.getParent().getParent());
    makeApplication(folder, "app.jar", "H2W", "H2W.main(new String[] {\"1\"})");
    makeApplication(folder, "server.jar", "Attached", "Attached.main(a)");
    makeApplication(folder, "primes.jar", "Primes", "Primes.main(a)");
    Files.copy(
        Setup.SOURCE.resolve("java-tests/workloads/Primes.java"), folder.resolve("Primes.java"));
    Files.copy(
        Setup.SOURCE.resolve("java-tests/api/programs/Shop.java"), folder.resolve("Shop.java"));
    Process server = startServer(folder);
    try {
      for (String command : commands) {
        Jvm.Result result = shell(folder, command);
        assertEquals(0, result.exit(), command + "\n" + result.err());
        assertFalse(result.out().isEmpty() && !command.contains(" -o "), command);
      }
    } finally {
      server.destroyForcibly();
    }
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
