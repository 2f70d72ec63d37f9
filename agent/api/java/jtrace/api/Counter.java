package jtrace.api;

/**
 * One of the program's own counters, {@code user.NAME} in reports: a thread's additions are charged
 * to that thread and to its current call path. Without the agent it does nothing, nor with an agent
 * that is attached later and has no counter left (there are 16).
 */
public final class Counter {
  private static final int NONE = -1;
  /** The agent was attached later and refused it: a running program must not fail for that. */
  private static final int REFUSED = -2;

  private static final int MOST_LETTERS = 64;

  private final String name;
  private final String unit;
  private final Metric metric;
  // Assigned once by the agent; threads that find it missing request the same one.
  private int id = NONE;

  Counter(String name, String unit) {
    // Checked here and not by the agent, so that it is also reported without one.
    if (name.isEmpty() || !isWord(name, "._-")) {
      throw new IllegalArgumentException(
          "'" + name + "' cannot name a counter: use letters, digits, '.', '_' and '-', "
              + MOST_LETTERS + " at most");
    }
    if (!isWord(unit, "._-/%")) {
      throw new IllegalArgumentException(
          "'" + unit + "' is not a unit of a counter: use B, ns or none");
    }
    this.name = name;
    this.unit = unit;
    metric = Metric.user(name, unit);
    isCounted();
  }

  public void add(long delta) {
    if (id >= 0 || isCountedByNow()) Natives.add(id, delta);
  }

  public void increment() {
    add(1);
  }

  public Metric metric() {
    return metric;
  }

  private static boolean isWord(String text, String marks) {
    return text.length() <= MOST_LETTERS
        && text.chars()
            .allMatch(
                c -> c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
                    || marks.indexOf(c) >= 0);
  }

  private boolean isCountedByNow() {
    if (id == REFUSED) return false;
    try {
      return isCounted();
    } catch (IllegalStateException e) {
      id = REFUSED;
      return false;
    }
  }

  private boolean isCounted() {
    if (!Agent.isThere()) return false;
    int number = Natives.counter(name, unit);
    metric.number(number);
    id = number;
    return true;
  }
}
