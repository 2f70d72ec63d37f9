package jtrace;

/**
 * The counters of threads, which the agent keeps. Defined into the boot loader's unnamed module, where
 * it may register native methods without a warning of the JVM.
 */
final class NativeCounters {
  private NativeCounters() {}

  /**
   * The address of the calling thread's counter block, made if there is none; 0: no memory.
   *
   * @param tid Thread.threadId()
   * @param virtual whether that is a virtual thread
   * @param jvmThread address of the JVM's structure for a platform thread
   */
  static native long block(long tid, boolean virtual, long jvmThread);

  /**
   * The same, for a thread whose metrics are charged to call paths from now on.
   *
   * @param metrics the metrics' numbers plus 1, a byte each
   * @param charged address of a value for each of them: counts of no call path
   */
  static native long begin(
      long tid, boolean virtual, long jvmThread, long metrics, long charged);

  /** The calling thread's count. */
  static native long total(int metric);
}
