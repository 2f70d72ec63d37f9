package agents;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;

/** How often each instruction and each outcome of a branch ran, by line. */
public final class Lines {
  /** Instructions that count one, and those that count an outcome. */
  private static final int PROBE = 2;

  private static final int OUTCOME_PROBE = 4;

  private static final int PART = 1 << 16;
  private static volatile AtomicLongArray[] counts = {};
  private static final List<Place> places = new ArrayList<>();

  private static final class Place {
    final String method;
    final int line;
    final boolean isOutcome;

    Place(String method, int line, boolean isOutcome) {
      this.method = method;
      this.line = line;
      this.isOutcome = isOutcome;
    }
  }

  /** Sums of a line. */
  private static final class Line {
    long executions;
    long instructions;
    int branches;
    int taken;
  }

  private Lines() {}

  public static void hit(int id) {
    counts[id / PART].getAndIncrement(id % PART);
  }

  static long total() {
    long sum = 0;
    for (AtomicLongArray part : counts) {
      for (int i = 0; i < PART; i++) sum += part.get(i);
    }
    return sum;
  }

  static synchronized int instruction(String method, int line) {
    return add(new Place(method, line, false));
  }

  static synchronized int outcome(String method, int line) {
    return add(new Place(method, line, true));
  }

  private static int add(Place place) {
    int id = places.size();
    places.add(place);
    if (id / PART == counts.length) {
      AtomicLongArray[] more = java.util.Arrays.copyOf(counts, counts.length + 1);
      more[counts.length] = new AtomicLongArray(PART);
      counts = more;
    }
    return id;
  }

  /**
   * "CLASS.METHOD LINE EXECUTIONS INSTRUCTIONS BRANCHES TAKEN": instructions as they are with this
   * agent's own among them.
   */
  static synchronized void write(PrintStream out) {
    Map<String, Line> lines = new TreeMap<>();
    for (int id = 0; id < places.size(); id++) {
      Place place = places.get(id);
      if (place.line == 0) continue;
      long count = counts[id / PART].get(id % PART);
      Line line = lines.computeIfAbsent(place.method + " " + place.line, unseen -> new Line());
      if (place.isOutcome) {
        line.instructions += OUTCOME_PROBE * count;
        line.branches++;
        if (count > 0) line.taken++;
      } else {
        line.executions = Math.max(line.executions, count);
        line.instructions += (1 + PROBE) * count;
      }
    }
    lines.forEach(
        (key, line) ->
            out.println(
                key + " " + line.executions + " " + line.instructions + " " + line.branches + " "
                    + line.taken));
  }
}
