package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * The probe of unwind=: at the entry of methods whose callers are wanted. Native methods must be
 * registered outside of java.base (see jtrace.NativeUnwind), which java.base does not see: hence
 * the handle.
 */
public final class JTraceUnwind {
  private static final MethodHandle TAKE = find();

  static {
    // Handles compile themselves in their first calls.
    for (int i = 0; TAKE != null && i < 200; i++) {
      take(0);
    }
  }

  private JTraceUnwind() {}

  public static void take(int routine) {
    try {
      if (TAKE != null) {
        TAKE.invokeExact(routine);
      }
    } catch (Throwable e) {
      Unsafe.getUnsafe().throwException(e);
    }
  }

  /** Whether the probe does anything; also initializes the class. */
  static boolean works() {
    return TAKE != null;
  }

  private static MethodHandle find() {
    try {
      return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
          Class.forName("jtrace.NativeUnwind", true, null),
          "take",
          MethodType.methodType(void.class, int.class));
    } catch (ReflectiveOperationException | LinkageError e) {
      return null;
    }
  }
}
