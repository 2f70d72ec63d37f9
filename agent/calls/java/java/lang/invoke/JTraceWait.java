package java.lang.invoke;

import jdk.internal.misc.Unsafe;

/**
 * A moment's sleep of a thread whose log is full (overflow=wait). Nothing of the JDK will do:
 * Unsafe.park takes a permit that may be the program's, and sleep and wait end when the thread is
 * interrupted. Native methods must be registered outside of java.base (see jtrace.NativeWait), which
 * java.base does not see: hence the handle.
 */
final class JTraceWait {
  private static final MethodHandle NAP = find();

  static {
    // Handles compile themselves in their first calls.
    for (int i = 0; NAP != null && i < 200; i++) {
      nap(0);
    }
  }

  private JTraceWait() {}

  static void nap(int micros) {
    try {
      if (NAP != null) {
        NAP.invokeExact(micros);
      }
    } catch (Throwable e) {
      Unsafe.getUnsafe().throwException(e);
    }
  }

  /** Whether a thread can sleep; also initializes the class. */
  static boolean works() {
    return NAP != null;
  }

  private static MethodHandle find() {
    try {
      return MethodHandles.Lookup.IMPL_LOOKUP.findStatic(
          Class.forName("jtrace.NativeWait", true, null),
          "nap",
          MethodType.methodType(void.class, int.class));
    } catch (ReflectiveOperationException | LinkageError e) {
      return null;
    }
  }
}
