package jtrace;

import java.util.Arrays;

/**
 * Requests of jtrace-api.jar to the agent. The agent defines this class into the boot loader's
 * unnamed module. Every failure is an exception whose one-line message gives a remedy.
 */
public final class NativeMetrics {
  /** Windows whose families the thread belongs to; a thread's constructor passes them on. */
  private static final InheritableThreadLocal<long[]> FAMILIES = new InheritableThreadLocal<>();

  private static final int DESCENDANTS = 1;

  private NativeMetrics() {}

  /**
   * By metric number: "name, unit, exactness, cost, reach, meaning" with tabs between them; null
   * where it is unavailable.
   */
  public static native String[] describe();

  public static native long totalOf(Thread thread, int metric);

  public static native long processTotal(int metric);

  /** The number of the user counter, made if there is none of that name. */
  public static native int counter(String name, String unit);

  /** Since the recording began, of all threads or of one; as {@link #windowMethod}. */
  public static native void method(
      boolean all, long threadId, int metric, String pattern, long[] into);

  /**
   * Begins to count for the calling thread (scope 0), for it and the threads that descend from it
   * and start from now on (1), or for all (2). Returns the window's number.
   */
  public static long openWindow(int scope, long threadId) {
    long window = open(scope, threadId);
    if (scope == DESCENDANTS) {
      long[] families = families();
      families = Arrays.copyOf(families, families.length + 1);
      families[families.length - 1] = window;
      FAMILIES.set(families);
    }
    return window;
  }

  /**
   * The window's counts of the methods that the pattern names: calls, calls that were not nested in
   * another one, the metric without callees and with them.
   */
  public static native void windowMethod(long window, int metric, String pattern, long[] into);

  /**
   * The call paths with the highest values, callees not included, a line each: the value, then the
   * methods from the outermost on, with tabs between them.
   *
   * @param below of the thread that opened the window only paths in such a method, from there on;
   *     empty: all
   * @param pattern only paths that end in such a method; empty: in any
   */
  public static native String windowPaths(
      long window, int metric, String below, String pattern, int top);

  /** With scope 1: of the threads that descend from the one that opened the window. */
  public static native long windowTotal(long window, int metric);

  public static void closeWindow(long window) {
    long[] families = FAMILIES.get();
    if (families != null) {
      families = Arrays.stream(families).filter(it -> it != window).toArray();
      if (families.length == 0) {
        FAMILIES.remove();
      } else {
        FAMILIES.set(families);
      }
    }
    close(window);
  }

  /**
   * Null if the pattern names a method with probes; else the nearest name of one, empty if there
   * are none.
   */
  public static native String nearestMethod(String pattern);

  /**
   * The number of a set of labels: that of {@code outer}, in which {@code key} has this value, or is
   * missing if the value is empty. 0 is the empty set.
   */
  public static native int labels(int outer, String key, String value);

  /**
   * The calling thread has the set with that number from now on.
   *
   * @param virtualThread Thread.threadId() if it is a virtual thread, else 0
   */
  public static native void setLabels(int number, long virtualThread);

  /** The number of the segments of that name. */
  public static native int segment(String name);

  /** A segment begins in the calling thread. Returns what its end is to be called with; not 0. */
  public static native long beginSegment(int number);

  /**
   * It ends.
   *
   * @param begun 0: it was not open in the calling thread
   * @param inTurn whether it is the innermost open one of its thread
   */
  public static native void endSegment(int number, long begun, boolean inTurn);

  /** The output of the command {@code jtrace VERB PID ARGUMENT}. */
  public static native String command(String verb, String argument);

  private static native long open(int scope, long threadId);

  private static native void close(long window);

  /** On a thread that starts: the windows that it inherits. */
  private static long[] families() {
    long[] families = FAMILIES.get();
    return families != null ? families : new long[0];
  }
}
