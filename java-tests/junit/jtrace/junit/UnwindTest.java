package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** unwind= (0x41) on a program whose paths to the chosen method are known. */
final class UnwindTest {
  private static final String BY_LEFT = "main > left > target";
  private static final String BY_RIGHT = "main > right > target";
  private static final String BY_BOTH = "main > right > left > target";

  /** No timer samples, so that every record of a stack is an unwind. */
  private static Jvm.Result run(String options, String jvm, String rounds) {
    Jvm.Result run =
        new Jvm().agent("interval=10s," + options).arguments(jvm).run("Unwinds", rounds);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    String summary = run.report("--report=summary").rows().toString();
    assertTrue(!summary.contains("unwind.not_taken"), summary);
    return run;
  }

  /** The sampled frames of each unwind, names without origin. */
  private static List<List<String>> unwinds(Jvm.Result run) {
    List<List<String>> unwinds = new ArrayList<>();
    for (String line : Report.text(run.trace(), "--report=dump").split("\n")) {
      List<String> fields = Arrays.asList(line.split("\t"));
      int frames;
      if (fields.size() > 3 && fields.get(2).equals("unwind")) {
        frames = 3;
      } else if (fields.size() > 3 && fields.get(2).equals("unwind-at")) {
        frames = 4 + Integer.parseInt(fields.get(3));
      } else {
        continue;
      }
      unwinds.add(
          fields.subList(frames, fields.size()).stream()
              .map(frame -> frame.replaceFirst("^[A-Z]:(?!:)", ""))
              .toList());
    }
    return unwinds;
  }

  /** The call paths of the program's own methods → how often each was seen. */
  private static Map<String, Integer> paths(List<List<String>> unwinds) {
    Map<String, Integer> paths = new TreeMap<>();
    for (List<String> unwind : unwinds) {
      // The entered method is the innermost frame, and threads have more frames below main.
      assertEquals("Unwinds.target(int)", unwind.get(unwind.size() - 1));
      assertTrue(unwind.indexOf("Unwinds.main(String[])") > 0, unwind.toString());
      List<String> own =
          unwind.stream()
              .filter(frame -> frame.startsWith("Unwinds."))
              .map(frame -> frame.replaceAll("^Unwinds\\.|\\(.*", ""))
              .toList();
      paths.merge(String.join(" > ", own), 1, Integer::sum);
    }
    return paths;
  }

  @Test
  void everyEntryHasItsCallers() {
    Map<String, Integer> expected = Map.of(BY_LEFT, 200, BY_BOTH, 100, BY_RIGHT, 50);
    for (String record : List.of("tree", "flat", "log")) {
      for (String jvm : List.of("-Xint", "-XX:+TieredCompilation")) {
        Jvm.Result run = run("unwind=Unwinds::target,record=" + record, jvm, "1");
        assertEquals(expected, paths(unwinds(run)), record + " " + jvm);
      }
    }
  }

  @Test
  void unwindsAddSamplesAndNoTicks() {
    Jvm.Result run = run("unwind=Unwinds::target", "-Xint", "1");
    Report chains = run.report("--report=tree", "--merge=none");
    assertEquals(350, chains.sum("samples", "Unwinds.target(int)"));
    assertEquals(0, chains.sum("base_ticks"));
    // On the calls' tree every frame of the program is an activation that is open.
    Report merged = run.report("--report=tree");
    assertEquals(350, merged.sum("calls", "Unwinds.target(int)"));
    assertEquals(0, merged.sum("samples", "Unwinds.target(int)"));
    // Each whole stack is below the node at which it was taken; there are three nodes.
    Report embedded = run.report("--report=tree", "--merge=embed");
    assertEquals(350, embedded.sum("samples", "Unwinds.target(int)"));
    assertEquals(
        3, embedded.rows().stream().filter(row -> row.get("name").equals("stack_0x41")).count());
  }

  @Test
  void everyNthEntry() {
    List<List<String>> unwinds =
        unwinds(run("unwind=Unwinds::target:every=7", "-XX:+TieredCompilation", "1"));
    assertEquals(50, unwinds.size());
    assertEquals(29, paths(unwinds).get(BY_LEFT)); // entries 0, 7 … 196 of 200
  }

  /** By then the compilers have inlined everything into main. */
  @Test
  void compiledCallersAreTheSame() {
    Map<String, Integer> paths =
        paths(unwinds(run("unwind=Unwinds::target:every=1000", "-Xbatch", "2000")));
    assertEquals(700, paths.values().stream().mapToInt(Integer::intValue).sum());
    assertTrue(List.of(BY_LEFT, BY_RIGHT, BY_BOTH).containsAll(paths.keySet()), paths.toString());
  }

  /** Names in unwind= that match no method are a loss; names that match are not. */
  @Test
  void reportsNamesWithoutAMethod() {
    Jvm.Result run = run("unwind=Unwinds::target;Unwinds::tarpet;No.Such::method", "-Xint", "1");
    assertEquals(350, unwinds(run).size());
    String summary = Report.text(run.trace(), "--report=summary");
    String loss = "unwind= that no loaded method with code matches: ";
    assertTrue(summary.contains(loss + "Unwinds::tarpet;No.Such::method"), summary);
    Jvm.Result matched = run("unwind=Unwinds::target", "-Xint", "1");
    summary = Report.text(matched.trace(), "--report=summary");
    assertTrue(!summary.contains(loss), summary);
  }

  /** A method out of scope gets no other probe. */
  @Test
  void unwindsMethodsOfTheJdk() {
    Jvm.Result run = run("unwind=java.io.PrintStream::println", "-Xint", "1");
    List<List<String>> unwinds = unwinds(run);
    assertEquals(1, unwinds.size());
    List<String> stack = unwinds.get(0);
    assertEquals("java.io.PrintStream.println(long)", stack.get(stack.size() - 1));
    assertEquals("Unwinds.main(String[])", stack.get(stack.size() - 2));
    assertEquals(0, run.report("--report=tree").sum("calls", "java.io.PrintStream.println(long)"));
  }

  @Test
  void codesSwitchUnwindsOff() {
    assertEquals(List.of(), unwinds(run("unwind=Unwinds::target,codes=-0x41", "-Xint", "1")));
  }
}
