package jtrace.api;

/**
 * Reads some metrics of one thread, or of the process, and remembers what it has read: each reader
 * has a cursor of its own and disturbs no other. Reading allocates nothing. For one thread at a time.
 */
public interface Reader extends AutoCloseable {
  /** The total now. Leaves the cursor where it is. */
  long total(Metric metric);

  /**
   * What was counted since the last {@code lastDelta} of this metric or {@link #readInto}, or else
   * since the reader was made.
   */
  long lastDelta(Metric metric);

  /** The totals now, in the order in which the metrics were given; moves the cursor of all. */
  void readInto(long[] totals);

  @Override
  void close();
}
