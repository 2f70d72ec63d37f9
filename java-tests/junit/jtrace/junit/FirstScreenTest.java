package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What costs most stands in the first 25 lines of the output without options. */
final class FirstScreenTest {
  private static final int LINES = 25;

  private static String firstScreen(Jvm.Result run) {
    List<String> lines = Report.text(run.trace(), "--width=100").lines().collect(Collectors.toList());
    return String.join("\n", lines.subList(0, Math.min(LINES, lines.size())));
  }

  private static void assertHas(String screen, String... words) {
    for (String word : words) assertTrue(screen.contains(word), "no " + word + " in\n" + screen);
  }

  /** Ten workers, each of which does little: the pool's plumbing must not hide the culprit. */
  @Test
  void theCulpritOfAServer() {
    Jvm.Result run = new Jvm().agent("mode=merged").run("CulpritServer", "60");
    assertEquals(0, run.exit(), run.err());
    assertEquals("60", run.out().trim());
    String screen = firstScreen(run);
    assertHas(screen, "Catalog.matches", "Pattern.compile", "120,000");
  }
}
