package jtrace.api;

/**
 * A counter of the program's own, {@code user.NAME} in reports: what a thread adds is charged to that
 * thread and to the call path where it stands. Without the agent it does nothing;
 * nor with one that comes later and has no counter left (there are 16).
 */
public final class Counter {
  private static final int NONE = -1;
  /** The agent came later and would not count it: what runs already must not fail for that. */
  private static final int REFUSED = -2;

  private static final int MOST_LETTERS = 64;

  private final String name;
  private final String unit;
  private final Metric metric;
  // Given once by the agent; threads that find it missing ask for the same one.
  private int id = NONE;

  Counter(String name, String unit) {
    // Here and not by the agent, so that it is told without one.
    if (name.isEmpty() || !isWord(name, "._-")) {
      throw new IllegalArgumentException(
          "'" + name + "' cannot name a counter: use letters, digits, '.', '_' and '-', "
              + MOST_LETTERS + " at most");
    }
    if (!isWord(unit, "._-/%")) {
      throw new IllegalArgumentException("'" + unit + "' is no unit of a counter: use B, ns or none");
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
