package jtrace.api;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Threads by number. */
final class Threads {
  /** Thread.threadId(), from JDK 19 on: unlike getId() no subclass overrides it. */
  private static final MethodHandle ID = findId();

  private Threads() {}

  static long id(Thread thread) {
    try {
      return (long) ID.invokeExact(thread);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** A running platform thread. */
  static Thread find(long id) {
    ThreadGroup root = Thread.currentThread().getThreadGroup();
    while (root.getParent() != null) root = root.getParent();
    Thread[] threads = new Thread[2 * root.activeCount() + 16];
    int count = root.enumerate(threads, true);
    for (int i = 0; i < count; i++) {
      if (id(threads[i]) == id) return threads[i];
    }
    throw new IllegalArgumentException("no platform thread with the id " + id + " runs");
  }

  private static MethodHandle findId() {
    MethodType type = MethodType.methodType(long.class);
    try {
      return MethodHandles.publicLookup().findVirtual(Thread.class, "threadId", type);
    } catch (ReflectiveOperationException e) {
      return oldId(type);
    }
  }

  private static MethodHandle oldId(MethodType type) {
    try {
      return MethodHandles.publicLookup().findVirtual(Thread.class, "getId", type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
