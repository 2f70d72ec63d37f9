package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A leaf's probe leaves its caller current, but its samples belong to its own node, also with JDK
 * frames between the two.
 */
final class LeafTest {
  private static final String LEAF = "cases.LeafCallback$Churn.applyAsInt(int)";

  @ParameterizedTest
  @EnumSource(Timer.class)
  void samplesOfALeafAreAddedToTheCountedNode(Timer timer) {
    Jvm.Result run = new Jvm().agent(timer, "mode=merged,interval=1ms").run("cases.LeafCallback", "1500");
    assertEquals(0, run.exit(), run.err());
    List<Map<String, String>> leaves =
        run.report("--report=tree").rows().stream()
            .filter(row -> row.get("name").equals(LEAF))
            .toList();
    long all = leaves.stream().mapToLong(row -> Long.parseLong(row.get("base_ticks"))).sum();
    long counted =
        leaves.stream()
            .filter(row -> row.get("origin").equals("event"))
            .mapToLong(row -> Long.parseLong(row.get("base_ticks")))
            .sum();
    assertTrue(all >= 100, "too few ticks to compare: " + all);
    // Samples at the start of the first call are taken before its node exists.
    assertTrue(counted >= all - 1, counted + " of " + all);
  }
}
