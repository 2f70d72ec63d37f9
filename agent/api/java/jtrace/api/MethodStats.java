package jtrace.api;

/**
 * The counts of the methods that a pattern names, treated as one.
 *
 * @param calls all calls
 * @param outermostCalls those that were not nested in another one
 * @param base the value of a metric in the methods themselves
 * @param cum the same with all their callees, nested activations once
 */
public record MethodStats(long calls, long outermostCalls, long base, long cum) {
  static final MethodStats NONE = new MethodStats(0, 0, 0, 0);

  static MethodStats of(long[] values) {
    return new MethodStats(values[0], values[1], values[2], values[3]);
  }

  public MethodStats minus(MethodStats earlier) {
    return new MethodStats(
        calls - earlier.calls,
        outermostCalls - earlier.outermostCalls,
        base - earlier.base,
        cum - earlier.cum);
  }
}
