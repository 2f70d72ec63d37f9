package jtrace.api;

/** Whose resources count. */
public enum Scope {
  /** The thread that asks. */
  THREAD,
  /**
   * That thread, and threads that it or its descendants make and start meanwhile. What a thread of a
   * pool does that ran before, or whose factory lets nothing be inherited, is not seen.
   */
  DESCENDANTS,
  /** All threads. */
  PROCESS
}
