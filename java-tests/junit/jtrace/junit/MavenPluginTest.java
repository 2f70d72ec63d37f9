package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The parts of {@code jtrace-maven-plugin.jar} that need no build by Maven. */
final class MavenPluginTest {
  private static final Path PLUGIN =
      Path.of(Setup.property("jtrace.api")).resolveSibling("jtrace-maven-plugin.jar");

  /** More than a pipe holds, on both outputs. */
  @Test
  void whatThePostProcessorPrintsDoesNotStopIt() throws Exception {
    assumeTrue(Files.exists(PLUGIN), "not verified: Maven's jars are missing (scripts/setup.sh maven)");
    Path folder = Files.createTempDirectory("jtrace-maven");
    Path program = folder.resolve("jtrace-post");
    Files.writeString(
        program,
        "#!/bin/sh\nhead -c 300000 /dev/zero\nhead -c 300000 /dev/zero >&2\necho 'jtrace-post: broken' >&2\nexit 3\n");
    program.toFile().setExecutable(true);
    URL[] jars = {
      PLUGIN.toUri().toURL(), Path.of(Setup.jar("maven-plugin-api-3.x.jar")).toUri().toURL()
    };
    try (URLClassLoader loader = new URLClassLoader(jars)) {
      Class<?> type = loader.loadClass("jtrace.maven.PostProcessor");
      var constructor = type.getDeclaredConstructor(Path.class, List.class);
      constructor.setAccessible(true);
      Object post = constructor.newInstance(program, List.of());
      Method report = type.getDeclaredMethod("report", Path.class, List.class, Path[].class);
      report.setAccessible(true);
      Object lines =
          assertTimeoutPreemptively(
              Duration.ofMinutes(2),
              () -> report.invoke(post, folder.resolve("out"), List.of(), new Path[0]));
      List<?> messages = (List<?>) lines;
      assertEquals(1, messages.size());
      assertEquals("jtrace-post: broken", String.valueOf(messages.get(0)).replace("\0", ""));
    }
  }
}
