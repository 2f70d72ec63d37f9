package jtrace;

/** Like NativeClock, for logs that wait (overflow=wait). */
final class NativeWait {
  private NativeWait() {}

  /** Wakes the agent's writer thread and sleeps: in native code, which no safepoint waits for. */
  static native void nap(int micros);
}
