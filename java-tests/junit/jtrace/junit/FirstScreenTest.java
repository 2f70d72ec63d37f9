package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
  @ParameterizedTest
  @EnumSource(Timer.class)
  void theCulpritOfAServer(Timer timer) {
    Jvm.Result run = new Jvm().agent(timer, "mode=merged").run("CulpritServer", "60");
    assertEquals(0, run.exit(), run.err());
    assertEquals("60", run.out().trim());
    String screen = firstScreen(run);
    assertHas(screen, "Catalog.matches", "Pattern.compile", "120,000");
  }
}
