/**
 * Calls a method until it is killed, for a minute at most. Prints the time and the number of calls
 * about every 10 ms.
 */
public final class Counts {
  private static long calls;

  private Counts() {}

  static void count() {
    calls++;
  }

  /** Argument: calls between two looks at the clock. */
  public static void main(String[] args) {
    int batch = Integer.parseInt(args[0]);
    long start = System.nanoTime();
    for (long last = start; last - start < 60_000_000_000L; ) {
      for (int i = 0; i < batch; i++) {
        count();
      }
      long now = System.nanoTime();
      if (now - last > 10_000_000) {
        System.out.println(now + " " + calls);
        last = now;
      }
    }
  }
}
