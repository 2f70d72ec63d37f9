package jtrace.api;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A label of the thread that opened it: samples of that thread carry it until it is closed. A label
 * inside of another one with the same key replaces it meanwhile; those with other keys stay. It
 * belongs to the thread, also to a virtual one, and not to threads that it starts.
 *
 * <p>Close it on the thread that opened it, best by {@code try}. Closing it closes all labels that
 * were opened inside of it and are still open. On another thread, and when it is closed already,
 * closing does nothing.
 */
public final class Label implements AutoCloseable {
  /** Opened without the agent. */
  private static final Label NONE = new Label(0, null);

  private static final int MOST_LETTERS = 64;
  private static final int MOST_KNOWN = 10_000;
  /** The agent cuts longer values. */
  private static final int MOST_LETTERS_KEPT = 256;
  /** The agent's answer if it has no more room. */
  private static final int UNKNOWN = 0xFFFF;

  /** The innermost open label of each thread. */
  private static final ThreadLocal<Label> OPEN = new ThreadLocal<>();

  /** The agent's numbers, so that it is asked once for each. */
  private static final Map<Step, Integer> KNOWN = new ConcurrentHashMap<>();

  private final int number;
  private final Label outer;

  /** From the labels {@code outer} to those with one more. */
  private record Step(int outer, String key, String value) {}

  private Label(int number, Label outer) {
    this.number = number;
    this.outer = outer;
  }

  static Label open(String key, String value) {
    // Checked without the agent, too, so that it is found at once.
    if (!isKey(key)) {
      throw new IllegalArgumentException(
          "'" + key + "' cannot be the key of a label: use letters, digits, '.', '_' and '-', "
              + MOST_LETTERS + " at most");
    }
    if (value == null) {
      throw new NullPointerException("no value for the label " + key + "; \"\" removes it");
    }
    if (!Agent.isThere()) return NONE;
    Label outer = OPEN.get();
    Label label = new Label(number(outer == null ? 0 : outer.number, key, value), outer);
    OPEN.set(label);
    Natives.setLabels(label.number, Threads.virtualId());
    return label;
  }

  @Override
  public void close() {
    if (this == NONE || !isOpenHere()) return;
    if (outer == null) {
      OPEN.remove();
    } else {
      OPEN.set(outer);
    }
    Natives.setLabels(outer == null ? 0 : outer.number, Threads.virtualId());
  }

  private boolean isOpenHere() {
    Label open = OPEN.get();
    while (open != null && open != this) open = open.outer;
    return open == this;
  }

  private static int number(int outer, String key, String value) {
    Step step = new Step(outer, key, value);
    Integer known = KNOWN.get(step);
    if (known != null) return known;
    int number = Natives.labels(outer, key, value);
    boolean mayBeKept = value.length() <= MOST_LETTERS_KEPT && number != UNKNOWN;
    if (mayBeKept && KNOWN.size() < MOST_KNOWN) KNOWN.put(step, number);
    return number;
  }

  /** Allocates nothing. */
  private static boolean isKey(String text) {
    if (text.isEmpty() || text.length() > MOST_LETTERS) return false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean isLetter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
      if (!isLetter && "._-".indexOf(c) < 0) return false;
    }
    return true;
  }
}
