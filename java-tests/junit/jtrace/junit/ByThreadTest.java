package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The table of routines by thread (S3.11) of a real program, beside the list of each thread. */
final class ByThreadTest {
  private static final List<String> COLUMNS =
      List.of("calls", "base", "cum", "cum2", "elapsed", "base_ticks", "cum_ticks", "samples");

  private static Map<String, List<String>> byName(List<Map<String, String>> rows) {
    Map<String, List<String>> values = new HashMap<>();
    for (Map<String, String> row : rows) {
      values.put(row.get("name"), COLUMNS.stream().map(row::get).toList());
    }
    return values;
  }

  @Test
  void eachThreadHasTheRowsOfItsOwnList() {
    Jvm.Result run =
        new Jvm().agent("clock=tsc,interval=500us").run("SixteenThreads", "2000");
    Report table = run.report("--report=bythread");
    List<String> threads =
        table.rows().stream().filter(row -> row.get("kind").equals("thread"))
            .map(row -> row.get("thread")).toList();
    assertTrue(threads.size() > 16, threads.toString());
    int compared = 0;
    for (String thread : threads) {
      if (thread.contains("*") || thread.contains("?")) continue;
      List<Map<String, String>> rows =
          table.rows().stream().filter(row -> row.get("thread").equals(thread)).toList();
      Report flat = run.report("--report=flat", "--thread=" + thread);
      assertEquals(byName(flat.rows()), byName(rows), thread);
      compared += rows.size();
    }
    assertTrue(compared > 100, compared + " rows");
    long weights =
        run.report("--report=threads").rows().stream()
            .mapToLong(row -> Long.parseLong(row.get("ticks"))).sum();
    assertEquals(weights, table.sum("base_ticks"));
    assertTrue(weights > 0);
  }
}
