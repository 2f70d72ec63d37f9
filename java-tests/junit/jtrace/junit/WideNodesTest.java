package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A node with too many children for its slots: 7,000; 8,192 slots may be three quarters full. */
final class WideNodesTest {
  private static final int CALLEES = 7000;
  private static final int TIMES = 6;
  private static final String CALLER = "main: WideCalls.main(String[]) > WideCalls.callAll(Runnable[],int)";

  @TestFactory
  Stream<DynamicTest> eachChildIsOneNode() {
    return Stream.of("record=tree", "clock=tsc", "record=log")
        .map(options -> DynamicTest.dynamicTest(options, () -> checkChildren(options)));
  }

  private static void checkChildren(String options) {
    Jvm.Result run = new Jvm().agent("mode=events,include=Wide*," + options)
        .run("WideCalls", "" + CALLEES, "" + TIMES);
    assertEquals(0, run.exit(), run.err());
    Map<String, Long> tree = CallTree.of(run);
    tree.keySet().removeIf(path -> !path.startsWith(CALLER));
    assertEquals(List.of(), Expectations.differences(expected(), tree));
  }

  /** The same as in WideCalls.callAll. */
  private static Map<String, Long> expected() {
    Map<String, Long> calls = new TreeMap<>();
    calls.put(CALLER, (long) TIMES);
    for (int left = TIMES; left > 0; left--) {
      for (int i = 1; i <= CALLEES >> 2 * (left - 1); i++) {
        calls.merge(CALLER + String.format(" > Wide%08d.run()", i), 1L, Long::sum);
      }
    }
    return calls;
  }
}
