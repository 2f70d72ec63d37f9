package jtrace.api;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The agent's functions, as method handles that the compiler can inline. Initialized when the agent
 * is present, not before.
 */
final class Natives {
  static final String CLASS = "jtrace.NativeMetrics";
  private static final String OWN_CLASS = "java.lang.invoke.JTraceMetrics";

  /** A handle compiles itself within its first 127 calls, and that allocates. */
  private static final int WARM_UP = 200;

  private static final MethodHandle TOTAL = find(OWN_CLASS, "total", long.class, int.class);
  private static final MethodHandle TOTAL_OF =
      find(CLASS, "totalOf", long.class, Thread.class, int.class);
  private static final MethodHandle PROCESS_TOTAL =
      find(CLASS, "processTotal", long.class, int.class);
  private static final MethodHandle DESCRIBE = find(CLASS, "describe", String[].class);
  private static final MethodHandle COUNTER =
      find(CLASS, "counter", int.class, String.class, String.class);
  private static final MethodHandle ADD = find(OWN_CLASS, "add", void.class, int.class, long.class);
  private static final MethodHandle METHOD =
      find(CLASS, "method", void.class, boolean.class, long.class, int.class, String.class,
          long[].class);
  private static final MethodHandle OPEN_WINDOW =
      find(CLASS, "openWindow", long.class, int.class, long.class);
  private static final MethodHandle WINDOW_METHOD =
      find(CLASS, "windowMethod", void.class, long.class, int.class, String.class, long[].class);
  private static final MethodHandle WINDOW_PATHS =
      find(CLASS, "windowPaths", String.class, long.class, int.class, String.class, String.class,
          int.class);
  private static final MethodHandle WINDOW_TOTAL =
      find(CLASS, "windowTotal", long.class, long.class, int.class);
  private static final MethodHandle CLOSE_WINDOW =
      find(CLASS, "closeWindow", void.class, long.class);
  private static final MethodHandle NEAREST_METHOD =
      find(CLASS, "nearestMethod", String.class, String.class);
  private static final MethodHandle LABELS =
      find(CLASS, "labels", int.class, int.class, String.class, String.class);
  private static final MethodHandle SET_LABELS =
      find(CLASS, "setLabels", void.class, int.class, long.class);
  private static final MethodHandle SEGMENT = find(CLASS, "segment", int.class, String.class);
  private static final MethodHandle BEGIN_SEGMENT =
      find(CLASS, "beginSegment", long.class, int.class);
  private static final MethodHandle END_SEGMENT =
      find(CLASS, "endSegment", void.class, int.class, long.class, boolean.class);
  private static final MethodHandle COMMAND =
      find(CLASS, "command", String.class, String.class, String.class);

  static {
    Metric.learn(describe());
    int metric = Metric.ALLOC_BYTES.idOrNone();
    try {
      for (int i = 0; i < WARM_UP && metric >= 0; i++) total(metric);
    } catch (RuntimeException e) {
      // This JVM does not report it; each query gets the reason.
    }
  }

  private Natives() {}

  static void initialize() {}

  private static MethodHandle find(
      String owner, String name, Class<?> result, Class<?>... parameters) {
    try {
      return MethodHandles.publicLookup()
          .findStatic(Agent.loaded(owner), name, MethodType.methodType(result, parameters));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "jtrace-api.jar and the jtrace agent have different versions: no "
              + name + "; use the jar that came with the agent",
          e);
    }
  }

  /** Index: a metric's number; null: unavailable. See Metric.learn. */
  static String[] describe() {
    try {
      return (String[]) DESCRIBE.invokeExact();
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Of the calling thread. */
  static long total(int metric) {
    try {
      return (long) TOTAL.invokeExact(metric);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static long totalOf(Thread thread, int metric) {
    try {
      return (long) TOTAL_OF.invokeExact(thread, metric);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static long processTotal(int metric) {
    try {
      return (long) PROCESS_TOTAL.invokeExact(metric);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** The number of a user counter; creates it if there is none of that name. */
  static int counter(String name, String unit) {
    try {
      int metric = (int) COUNTER.invokeExact(name, unit);
      for (int i = 0; i < WARM_UP; i++) ADD.invokeExact(metric, 0L);
      return metric;
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static void add(int metric, long delta) {
    try {
      ADD.invokeExact(metric, delta);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Since the recording began; {@code thread} null: of all threads. */
  static MethodStats method(Thread thread, int metric, String pattern) {
    long[] values = new long[4];
    try {
      METHOD.invokeExact(
          thread == null, thread == null ? 0L : Threads.id(thread), metric, pattern, values);
    } catch (Throwable e) {
      throw unchecked(e);
    }
    return MethodStats.of(values);
  }

  static long openWindow(int scope) {
    try {
      return (long) OPEN_WINDOW.invokeExact(scope, Threads.id(Thread.currentThread()));
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static MethodStats windowMethod(long window, int metric, String pattern) {
    long[] values = new long[4];
    try {
      WINDOW_METHOD.invokeExact(window, metric, pattern, values);
    } catch (Throwable e) {
      throw unchecked(e);
    }
    return MethodStats.of(values);
  }

  /** A line each; empty patterns: any method. */
  static String windowPaths(long window, int metric, String below, String pattern, int count) {
    try {
      return (String) WINDOW_PATHS.invokeExact(window, metric, below, pattern, count);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Of the threads that descend from the one that opened the window, and started since then. */
  static long windowTotal(long window, int metric) {
    try {
      return (long) WINDOW_TOTAL.invokeExact(window, metric);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static void closeWindow(long window) {
    try {
      CLOSE_WINDOW.invokeExact(window);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Null: the pattern names a method with probes. */
  static String nearestMethod(String pattern) {
    try {
      return (String) NEAREST_METHOD.invokeExact(pattern);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** The number of the labels {@code outer} with one more, or without it if the value is empty. */
  static int labels(int outer, String key, String value) {
    try {
      return (int) LABELS.invokeExact(outer, key, value);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Of the calling thread; {@code virtualThread}: its id if it is a virtual one, else 0. */
  static void setLabels(int number, long virtualThread) {
    try {
      SET_LABELS.invokeExact(number, virtualThread);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** The number of the segments of that name. */
  static int segment(String name) {
    try {
      return (int) SEGMENT.invokeExact(name);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** Returns what its end is to be called with; not 0. */
  static long beginSegment(int number) {
    try {
      return (long) BEGIN_SEGMENT.invokeExact(number);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** {@code begun} 0: it was not open in this thread. */
  static void endSegment(int number, long begun, boolean inTurn) {
    try {
      END_SEGMENT.invokeExact(number, begun, inTurn);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static String command(String verb, String argument) {
    try {
      return (String) COMMAND.invokeExact(verb, argument);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  /** The agent's methods declare no checked exceptions. */
  private static RuntimeException unchecked(Throwable e) {
    if (e instanceof RuntimeException) return (RuntimeException) e;
    if (e instanceof Error) throw (Error) e;
    return new IllegalStateException(e);
  }
}
