package jtrace.api;

/** Whether the agent is in this JVM. It may be attached at any time and is never unloaded. */
final class Agent {
  /** How long a program without the agent does not look again, unless it needs more than totals. */
  private static final long RETRY_NANOS = 100_000_000;

  // Not volatile: a thread that reads a stale false looks again, and Natives' initialization orders
  // the rest.
  private static boolean found;
  private static long lookedNanos = System.nanoTime() - RETRY_NANOS;

  private Agent() {}

  /** Costs a clock reading without the agent, and allocates at most once in 100 ms. */
  static boolean isThere() {
    return found || System.nanoTime() - lookedNanos >= RETRY_NANOS && find();
  }

  /** Looks now. */
  static boolean find() {
    if (found) return true;
    if (loaded(Natives.CLASS) == null) {
      // Not earlier: threads that ask while the first one still looks must not treat it as an
      // answer.
      lookedNanos = System.nanoTime();
      return false;
    }
    Natives.initialize();
    found = true;
    return true;
  }

  /** A class that the agent has defined in the boot loader; null: there is none. */
  static Class<?> loaded(String name) {
    try {
      return Class.forName(name, true, null);
    } catch (ClassNotFoundException e) {
      return null;
    }
  }
}
