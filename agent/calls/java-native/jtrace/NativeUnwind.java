package jtrace;

/** Like NativeClock, for instrumented unwinds. */
final class NativeUnwind {
  private NativeUnwind() {}

  /** A stack walk of the calling thread, if one is due at this entry of the routine. */
  static native void take(int routine);
}
