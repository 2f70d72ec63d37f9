package jtrace.api;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A named segment of code, from its begin until it is closed. It belongs to the thread that began it,
 * also to a virtual one.
 *
 * <p>Close it on that thread, best by {@code try}. Closing it closes all segments that were begun
 * inside of it and are still open. On another thread, and when it is closed already, closing does
 * nothing. The recording counts both.
 */
public final class Segment implements AutoCloseable {
  /** Begun without the agent. */
  private static final Segment NONE = new Segment(0, 0, null);

  private static final int MOST_KNOWN = 1000;
  /** Of a thread: a program that closes none keeps these. */
  private static final int MOST_OPEN = 1000;

  /** The innermost open segment of each thread. */
  private static final ThreadLocal<Segment> OPEN = new ThreadLocal<>();

  /** The agent's numbers, so that it is asked once for each. */
  private static final Map<String, Integer> KNOWN = new ConcurrentHashMap<>();

  private final int number;
  private final long begun;
  private final Segment outer;
  private final int depth;

  private Segment(int number, long begun, Segment outer) {
    this.number = number;
    this.begun = begun;
    this.outer = outer;
    this.depth = outer == null ? 1 : outer.depth + 1;
  }

  static Segment open(String name) {
    // Checked without the agent, too, so that it is found at once.
    if (name.isEmpty()) throw new IllegalArgumentException("a segment needs a name");
    if (!Agent.isThere()) return NONE;
    int number = number(name);
    Segment outer = OPEN.get();
    if (outer != null && outer.depth == MOST_OPEN) {
      Natives.endSegment(number, 0, false); // counts it
      return NONE;
    }
    Segment segment = new Segment(number, Natives.beginSegment(number), outer);
    OPEN.set(segment);
    return segment;
  }

  @Override
  public void close() {
    if (this == NONE) return;
    if (!isOpenHere()) {
      Natives.endSegment(number, 0, false); // counts it
      return;
    }
    for (Segment inner = OPEN.get(); inner != this; inner = inner.outer) {
      Natives.endSegment(inner.number, inner.begun, false);
    }
    if (outer == null) {
      OPEN.remove();
    } else {
      OPEN.set(outer);
    }
    Natives.endSegment(number, begun, true);
  }

  private boolean isOpenHere() {
    Segment open = OPEN.get();
    while (open != null && open != this) open = open.outer;
    return open == this;
  }

  private static int number(String name) {
    Integer known = KNOWN.get(name);
    if (known != null) return known;
    int number = Natives.segment(name);
    if (KNOWN.size() < MOST_KNOWN) KNOWN.put(name, number);
    return number;
  }
}
