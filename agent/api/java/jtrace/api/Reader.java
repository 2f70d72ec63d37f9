package jtrace.api;

/**
 * Reads some metrics of one thread, or of the process, and remembers what it has read: each reader
 * has its own cursor and does not affect others. Reading allocates nothing. For one thread at a
 * time.
 */
public interface Reader extends AutoCloseable {
  /** The total now. Leaves the cursor where it is. */
  long total(Metric metric);

  /**
   * The count since the last {@code lastDelta} of this metric or {@link #readInto}, or else since
   * the reader was created.
   */
  long lastDelta(Metric metric);

  /** The totals now, in the order of the given metrics; moves the cursors of all. */
  void readInto(long[] totals);

  @Override
  void close();
}
