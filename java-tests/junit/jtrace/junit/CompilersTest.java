package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** HotSpot's compilers compile methods with probes as they do without. */
final class CompilersTest {
  private static final Pattern REFUSED = Pattern.compile("(\\S+::\\S+).*COMPILE SKIPPED: (.*)");
  private static final Pattern COMPILED = Pattern.compile("Compiled::(\\S+) \\(");
  // Each method by itself, when it is first called.
  private static final String[] JVM = {
    "-Xcomp",
    "-Xbatch",
    "-XX:+PrintCompilation",
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=compileonly,Compiled::*",
    "-XX:CompileCommand=dontinline,Compiled::*"
  };

  /** All kinds of probes: what a recording is made of, times what is counted besides. */
  private static List<String> kinds() {
    List<String> kinds = new ArrayList<>();
    for (String blocks : List.of("off", "on", "paths")) {
      for (String record : List.of("tree", "flat", "log")) {
        if (!blocks.equals("off") && record.equals("log")) continue;
        if (blocks.equals("paths") && !record.equals("tree")) continue;
        kinds.add("record=" + record + ",blocks=" + blocks);
        kinds.add("record=" + record + ",blocks=" + blocks + ",boundary=on,codes=+exception");
      }
      if (!blocks.equals("paths")) kinds.add("record=tree,sites=on,blocks=" + blocks);
      kinds.add("record=tree,boundary=costs,clock=coarse,metrics=alloc.sites,blocks=" + blocks);
    }
    return kinds;
  }

  private static Set<String> refusals(String out) {
    Set<String> refused = new TreeSet<>();
    for (Matcher found = REFUSED.matcher(out); found.find(); ) {
      refused.add(found.group(1) + ": " + found.group(2));
    }
    return refused;
  }

  private static Set<String> compiled(String out) {
    Set<String> compiled = new TreeSet<>();
    for (Matcher found = COMPILED.matcher(out); found.find(); ) compiled.add(found.group(1));
    return compiled;
  }

  /** By C1 alone, and as usual, where C2 compiles first what is compiled so early. */
  @Test
  void noMethodIsRefusedBecauseOfItsProbes() {
    for (String compiler : List.of("-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation")) {
      Jvm.Result plain = new Jvm().arguments(JVM).arguments(compiler).run("Compiled", "100");
      assertEquals(0, plain.exit(), plain.err());
      assertTrue(compiled(plain.out()).contains("nested"), plain.out());
      for (String kind : kinds()) {
        Jvm.Result run =
            new Jvm()
                .agent("mode=events," + kind)
                .arguments(JVM)
                .arguments(compiler)
                .run("Compiled", "100");
        assertEquals(0, run.exit(), kind + run.err());
        assertEquals(List.of(), run.foreignErrors(), kind);
        assertEquals(refusals(plain.out()), refusals(run.out()), kind);
        assertEquals(compiled(plain.out()), compiled(run.out()), kind);
      }
    }
  }
}
