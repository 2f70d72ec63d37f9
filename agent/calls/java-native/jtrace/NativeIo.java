package jtrace;

/**
 * Replaces natives of the JDK. The JVM prints a warning on standard output if the class that
 * registers natives of the boot loader is of another loader, or if there is none.
 */
final class NativeIo {
  private NativeIo() {}

  /** Called by the agent. */
  static void replace() {
    replaceAll();
  }

  private static native void replaceAll();
}
