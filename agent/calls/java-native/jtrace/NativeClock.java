package jtrace;

/**
 * Clocks that Java has no method for. The agent defines this class into the boot loader's unnamed
 * module, where it may register native methods without a warning of the JVM.
 */
final class NativeClock {
  private NativeClock() {}

  /** The time-stamp counter. */
  static native long ticks();

  /** Processor time of the calling thread, nanoseconds. */
  static native long cpuNanos();

  /** Address of the calling thread's rseq_cs word (rseq(2)); 0 if the C library registers none. */
  static native long rseqWord();
}
