package jtrace.api;

/**
 * A counter of the program's own, {@code user.NAME} in reports: what a thread adds is charged to that
 * thread and to the call path where it stands. Without the agent it does nothing.
 */
public final class Counter {
  private static final int NONE = -1;

  private final String name;
  private final String unit;
  private final Metric metric;
  // Given once by the agent; threads that find it missing ask for the same one.
  private int id = NONE;

  Counter(String name, String unit) {
    this.name = name;
    this.unit = unit;
    metric = Metric.user(name, unit);
    isCounted();
  }

  public void add(long delta) {
    if (id != NONE || isCounted()) Natives.add(id, delta);
  }

  public void increment() {
    add(1);
  }

  public Metric metric() {
    return metric;
  }

  private boolean isCounted() {
    if (!Agent.isThere()) return false;
    int number = Natives.counter(name, unit);
    metric.number(number);
    id = number;
    return true;
  }
}
