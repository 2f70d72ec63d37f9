package jtrace.api;

/**
 * What was counted of the methods that a pattern names, taken as one.
 *
 * @param calls all calls
 * @param outermostCalls those that were not nested in another one
 * @param base what the methods spent of a metric themselves
 * @param cum the same with all that they called, nested activations once
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
