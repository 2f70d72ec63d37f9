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

/** The commands of the README, run as they stand, one after the other. */
final class DocsTest {
  @Test
  void commandsOfTheReadmeWork() throws IOException {
    List<String> commands = commands(Setup.SOURCE.resolve("README.md"));
    assertTrue(commands.size() >= 5, "README shows only " + commands);
    Path folder = Files.createTempDirectory("jtrace-docs");
    Files.createSymbolicLink(folder.resolve("build"), Setup.POST.getParent().getParent());
    makeApplication(folder, "app.jar", "H2W", "H2W.main(new String[] {\"1\"})");
    makeApplication(folder, "server.jar", "Attached", "Attached.main(a)");
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

  /** The README's program that runs already. */
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
