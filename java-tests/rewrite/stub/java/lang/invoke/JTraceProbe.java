package java.lang.invoke;

/** A probe that does nothing, for classes that are only verified. */
public final class JTraceProbe {
  private JTraceProbe() {}

  public static long enter(int id) {
    return id;
  }

  public static void exit(long token) {}

  public static void resume(long token, int id) {}

  public static void leaf(int id) {}

  public static void count(int id) {}
}
