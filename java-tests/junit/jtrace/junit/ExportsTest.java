package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Exports of real programs' traces, read by other tools, have the totals of the reports. */
final class ExportsTest {
  private static Jvm.Result database;

  @BeforeAll
  static void record() {
    database = new Jvm().agent("mode=merged").classpath("h2.jar").run("H2W", "1");
  }

  private static Path export(Jvm.Result run, String report, String... options) {
    Path file = Jvm.temporary(report, ".out");
    String[] all = new String[options.length + 3];
    System.arraycopy(options, 0, all, 3, options.length);
    all[0] = "--report=" + report;
    all[1] = "-o";
    all[2] = file.toString();
    Report.text(run.trace(), all);
    return file;
  }

  @Test
  void collapsedStacksSumToTheThreadsTotals() throws IOException {
    Report threads = database.report("--report=threads");
    for (String metric : List.of("ticks", "calls")) {
      Map<String, Long> sums = new HashMap<>();
      for (String line : Files.readAllLines(export(database, "collapsed", "--metric=" + metric))) {
        String thread = line.substring(0, line.indexOf(';'));
        sums.merge(thread, Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)), Long::sum);
      }
      for (Map<String, String> row : threads.rows()) {
        long expected = Long.parseLong(row.get(metric));
        assertEquals(expected, sums.getOrDefault(row.get("thread"), 0L), metric + " of " + row);
      }
    }
  }

  @Test
  void callgrindAnnotateHasTotalsInclusiveCostsAndCalls() {
    Path file = export(database, "callgrind");
    Jvm.Result annotated =
        Jvm.execute(
            List.of(
                "callgrind_annotate", "--inclusive=yes", "--tree=calling", "--auto=no",
                "--threshold=100", file.toString()),
            null);
    assertEquals(0, annotated.exit(), annotated.err());
    assertEquals("", annotated.err());
    Report flat = database.report("--report=flat");
    Report threads = database.report("--report=threads");
    List<Long> totals = costs(annotated.out(), "PROGRAM TOTALS");
    assertEquals(List.of(threads.sum("ticks"), threads.sum("calls")), totals);
    String main = "H2W.main(String[])";
    long ticks = costs(annotated.out(), "\\*  H2W:" + Pattern.quote(main) + " .*").get(0);
    assertEquals(flat.sum("cum_ticks", main), ticks);
    long calls = 0;
    for (Map<String, String> row : database.report("--report=arcflow").rows()) {
      if (!row.get("self").equals(main) || !row.get("row").equals("child")) continue;
      if (row.get("calls").equals("0")) continue;
      String callee = Pattern.quote(":" + row.get("name")) + " \\(([0-9,]+)x\\) .*";
      Matcher arc = Pattern.compile(" >   [^:]*" + callee).matcher(calleesOf(annotated.out(), main));
      assertTrue(arc.find(), "no arc to " + row);
      assertEquals(row.get("calls"), arc.group(1).replace(",", ""), row.toString());
      calls += Long.parseLong(row.get("calls"));
    }
    assertTrue(calls > 0, "H2W.main calls nothing");
  }

  /** The costs on the line with this end: "1,234 (12.3%) 5 ( 1.0%)  END". */
  private static List<Long> costs(String text, String end) {
    Matcher line = Pattern.compile("(?m)^(.*%\\)) +" + end + "$").matcher(text);
    assertTrue(line.find(), "no line ends in " + end);
    return Pattern.compile("([0-9,]+) \\(")
        .matcher(line.group(1))
        .results()
        .map(cost -> Long.valueOf(cost.group(1).replace(",", "")))
        .toList();
  }

  /** The lines between a function's own and the next empty line. */
  private static String calleesOf(String text, String function) {
    int begin = text.indexOf(":" + function + " [", text.indexOf("file:function"));
    while (text.lastIndexOf('*', begin) < text.lastIndexOf('\n', begin)) {
      begin = text.indexOf(":" + function + " [", begin + 1);
    }
    return text.substring(begin, text.indexOf("\n\n", begin));
  }

  /** Slices nest in every thread, one for each call. */
  @Test
  void timelineHasEveryCallOfALog() throws IOException {
    Jvm.Result run =
        new Jvm().agent("mode=events,record=log,clock=tsc").run("SixteenThreads", "100");
    assertEquals(0, run.exit(), run.err());
    Pattern slice =
        Pattern.compile(
            "\\{\"ph\":\"([BE])\",\"pid\":\\d+,\"tid\":(\\d+),\"ts\":([0-9.]+)"
                + "(?:,\"cat\":\"([a-z-]+)\")?,\"name\":(\"(?:[^\"\\\\]|\\\\.)*\").*");
    Map<String, Deque<String>> open = new HashMap<>();
    Map<String, Double> last = new HashMap<>();
    long calls = 0;
    for (String line : Files.readAllLines(export(run, "perfetto"))) {
      Matcher event = slice.matcher(line);
      if (!event.matches()) continue;
      double time = Double.parseDouble(event.group(3));
      assertTrue(last.getOrDefault(event.group(2), 0.0) <= time, "time runs back: " + line);
      last.put(event.group(2), time);
      Deque<String> stack = open.computeIfAbsent(event.group(2), thread -> new ArrayDeque<>());
      if (event.group(1).equals("E")) {
        assertEquals(stack.pop(), event.group(5), line);
      } else {
        stack.push(event.group(5));
        String code = event.group(4);
        if ("interpreted".equals(code) || "compiled".equals(code)) calls++;
      }
    }
    open.forEach((thread, stack) -> assertTrue(stack.isEmpty(), thread + ": " + stack));
    long inTheLog =
        run.report("--report=summary").rows().stream()
            .filter(row -> row.get("key").matches("records.0x[35]0/0x10"))
            .mapToLong(row -> Long.parseLong(row.get("value")))
            .sum();
    assertTrue(calls > 1000, "only " + calls + " calls");
    assertEquals(inTheLog, calls);
  }
}
