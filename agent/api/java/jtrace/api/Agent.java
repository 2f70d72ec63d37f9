package jtrace.api;

/** Whether the agent is in this JVM. It may come at any time and never goes. */
final class Agent {
  /** How long a program without the agent does not look again, unless it asks for more than totals. */
  private static final long RETRY_NANOS = 100_000_000;

  // No volatile: who reads false late looks itself, and Natives' initialization orders the rest.
  private static boolean found;
  private static long lookedNanos = System.nanoTime() - RETRY_NANOS;

  private Agent() {}

  /** Costs a clock reading while there is none, and allocates nothing but once in 100 ms. */
  static boolean isThere() {
    return found || System.nanoTime() - lookedNanos >= RETRY_NANOS && find();
  }

  /** Looks now. */
  static boolean find() {
    if (found) return true;
    if (loaded(Natives.CLASS) == null) {
      // Not before: threads that ask while the first one still looks must not take it for an answer.
      lookedNanos = System.nanoTime();
      return false;
    }
    Natives.initialize();
    found = true;
    return true;
  }

  /** A class that the agent has defined into the boot loader; null: it has not. */
  static Class<?> loaded(String name) {
    try {
      return Class.forName(name, true, null);
    } catch (ClassNotFoundException e) {
      return null;
    }
  }
}
