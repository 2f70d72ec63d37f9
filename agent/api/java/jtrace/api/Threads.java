package jtrace.api;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Threads by number. */
final class Threads {
  /** Thread.threadId(), from JDK 19 on: unlike getId() no subclass overrides it. */
  private static final MethodHandle ID = findId();

  /** Thread.isVirtual(), from JDK 21 on; null: there are no virtual threads. */
  private static final MethodHandle IS_VIRTUAL = method("isVirtual", boolean.class);

  private Threads() {}

  /** The calling thread's id if it is a virtual thread, else 0. */
  static long virtualId() {
    if (IS_VIRTUAL == null) return 0;
    Thread thread = Thread.currentThread();
    try {
      return (boolean) IS_VIRTUAL.invokeExact(thread) ? id(thread) : 0;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

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
    MethodHandle id = method("threadId", long.class);
    return id != null ? id : method("getId", long.class);
  }

  /** A method of Thread without parameters; null: this JDK has none of that name. */
  private static MethodHandle method(String name, Class<?> result) {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, name, MethodType.methodType(result));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
