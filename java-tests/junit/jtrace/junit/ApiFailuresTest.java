package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** What {@code jtrace-api.jar} leaves behind when the agent refuses a reading; the agent is played by two classes. */
final class ApiFailuresTest {
  private static final Path API = Path.of(Setup.property("jtrace.api"));

  private static final Map<String, String> SOURCES =
      Map.of(
          "Agent",
          """
          final class Agent {
            static boolean isThere() { return true; }
            static boolean find() { return true; }
          }
          """,
          "Natives",
          """
          final class Natives {
            static int open;
            static long reading;
            static boolean refuses;
            static String[] describe() {
              return new String[] {"alloc.bytes\\tB\\tx\\tx\\tpath\\tx", "exceptions\\t\\tx\\tx\\tpath\\tx"};
            }
            static long total(int metric) {
              if (metric == 1 && refuses) throw new IllegalStateException("exceptions are not counted");
              return reading;
            }
            static long openWindow(int scope) { return ++open; }
            static void closeWindow(long window) { open--; }
          }
          """,
          "Main",
          """
          final class Main {
            static final Metric[] METRICS = {Metric.ALLOC_BYTES, Metric.EXCEPTIONS};
            public static void main(String[] args) {
              Reader reader = JTrace.reader(Thread.currentThread(), METRICS);
              Natives.refuses = true;
              Natives.reading = 100;
              refused(() -> JTrace.window(Scope.THREAD, METRICS));
              System.out.println("windows left open: " + Natives.open);
              refused(() -> reader.readInto(new long[2]));
              System.out.println("since the last reading: " + reader.lastDelta(Metric.ALLOC_BYTES));
              Natives.refuses = false;
              JTrace.window(Scope.THREAD, METRICS);
              System.out.println("windows open: " + Natives.open);
            }
            static void refused(Runnable call) {
              try {
                call.run();
                System.out.println("not refused");
              } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
              }
            }
          }
          """);

  @Test
  void aRefusedReadingLeavesNoWindowAndMovesNoCursor() throws IOException {
    Path folder = Files.createTempDirectory("jtrace-api");
    List<String> arguments = new ArrayList<>(List.of("-cp", API.toString(), "-d", folder.toString()));
    for (Map.Entry<String, String> source : SOURCES.entrySet()) {
      Path file = folder.resolve(source.getKey() + ".java");
      Files.writeString(file, "package jtrace.api;\n" + source.getValue());
      arguments.add(file.toString());
    }
    assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(new String[0])));
    Jvm.Result run = new Jvm().classpathOf(folder, API).run("jtrace.api.Main");
    assertEquals("", run.err());
    assertEquals(
        """
        exceptions are not counted
        windows left open: 0
        exceptions are not counted
        since the last reading: 100
        windows open: 1
        """,
        run.out());
  }
}
