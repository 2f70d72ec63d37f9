package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sampling that starts after a library in Go was loaded: its code runs on stacks of a few
 * kilobytes. AlternateStackTest does without Go.
 */
final class GoLibraryTest {
  private static final Path SOURCES = Setup.SOURCE.resolve("java-tests/hooks/go");
  private static Path library;

  private static boolean hasGo() {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "go")));
  }

  @BeforeAll
  static void build() throws IOException {
    assumeTrue(hasGo(), "no Go here");
    library = Files.createTempDirectory("jtrace-go").resolve("library.so");
    String go = "cd '" + SOURCES + "' && go build -buildmode=c-shared -o '" + library + "' .";
    Jvm.Result built = Jvm.execute(List.of("sh", "-c", go), null);
    assertEquals(0, built.exit(), built.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"cpu", "wall"})
  void goroutinesAreSampledAndGoOn(String timer) throws InterruptedException {
    String classpath = Setup.property("jtrace.api.programs");
    List<String> program = List.of("programs.LibraryHost", library.toString());
    String[] arguments =
        Setup.JDK_MAJOR < 22
            ? new String[0]
            : new String[] {"--enable-native-access=ALL-UNNAMED"};
    try (LiveJvm live = LiveJvm.of(classpath, program, arguments)) {
      Path trace = live.folder.resolve("trace.bin");
      live.jtrace("start", "mode=samples,timer=" + timer + ",out=" + trace);
      LiveJvm.await(() -> Report.text(trace, "--report=flat").contains("main.compute"));
      live.jtrace("stop");
      assertEquals(0, live.end(), live.errors());
    }
  }
}
