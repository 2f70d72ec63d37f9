/**
 * Exceptions that leave several methods, and some that the program itself throws again. Prints how
 * many were thrown: 10 in bottom(), 10 in parse() by the JVM, 10 in rethrow() again, 10 in close()
 * and 10 in locked() by the compiler's `finally` and `synchronized`.
 */
public final class Rethrows {
  private static final int ROUNDS = 10;
  private static int caught;
  private static int closed;

  private static void bottom(int depth) {
    if (depth == 0) throw new IllegalStateException();
    bottom(depth - 1);
    closed++;
  }

  private static int parse(int[] none) {
    return none.length;
  }

  private static void rethrow(int[] none) {
    try {
      closed += parse(none);
    } catch (NullPointerException e) {
      throw e;
    }
  }

  private static void close(int[] none) {
    try {
      rethrow(none);
    } finally {
      closed++;
    }
  }

  private static void locked(int[] none) {
    synchronized (Rethrows.class) {
      close(none);
    }
  }

  private static void attempt(boolean deep) {
    try {
      if (deep) {
        bottom(3);
      } else {
        locked(null);
      }
    } catch (IllegalStateException | NullPointerException e) {
      caught++;
    }
  }

  public static void main(String[] args) {
    for (int i = 0; i < ROUNDS; i++) {
      attempt(true);
      attempt(false);
    }
    System.out.println(caught + " caught, " + closed + " closed");
  }
}
