package jtrace.api;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Threads by number. */
final class Threads {
  /** Thread.threadId(), from JDK 19 on: unlike getId() no subclass overrides it. */
  private static final MethodHandle ID = find();

  private Threads() {}

  static long id(Thread thread) {
    try {
      return (long) ID.invokeExact(thread);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static MethodHandle find() {
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
