package jtrace.api;

/** Whose resources count. */
public enum Scope {
  /** The calling thread. */
  THREAD,
  /**
   * That thread, and threads that it or its descendants create and start meanwhile. Work of a
   * pool's thread that ran before, or whose factory disables inheritance, is not counted.
   */
  DESCENDANTS,
  /** All threads. */
  PROCESS
}
