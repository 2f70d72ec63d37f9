package jtrace.junit5;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import jtrace.api.CallPath;
import jtrace.api.JTrace;
import jtrace.api.MethodStats;
import jtrace.api.Metric;
import jtrace.api.Scope;
import jtrace.api.Window;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.MultipleFailuresError;

/** Compares the resources that a test method has used with its limits. */
final class Limits {
  private static final int PATHS = 5;

  private final TestMethod test;
  private final Scope scope;
  private final Window window;
  private final boolean isFirst;
  private final Supplier<String> trace;
  private final List<AssertionFailedError> failures = new ArrayList<>();

  /**
   * @param isFirst the method has not run before in this JVM
   * @param trace keeps the trace and returns its path; called only after a failure
   */
  Limits(TestMethod test, Scope scope, Window window, boolean isFirst, Supplier<String> trace) {
    this.test = test;
    this.scope = scope;
    this.window = window;
    this.isFirst = isFirst;
    this.trace = trace;
  }

  static Metric[] metrics() {
    return JTrace.metrics().stream()
        .filter(metric -> metric.reach() != Metric.Reach.PROCESS && metric != Metric.CALLS)
        .toArray(Metric[]::new);
  }

  void check() {
    test.find(MaxAllocated.class).ifPresent(this::checkAllocated);
    test.find(MaxCpu.class).ifPresent(this::checkCpu);
    test.expectedCalls().forEach(this::checkCalls);
    if (failures.size() == 1) throw failures.get(0);
    if (!failures.isEmpty()) throw new MultipleFailuresError(test.name(), failures);
  }

  private void checkAllocated(MaxAllocated annotation) {
    long limit = Quantity.bytes(annotation.value());
    long actual = allocated();
    if (actual <= limit) return;
    fail(
        test.name() + " allocated " + Quantity.text(actual, "B") + ", more than @MaxAllocated(\""
            + annotation.value() + "\") allows (" + Quantity.text(limit, "B") + ")." + whenCold(),
        "The call paths that allocated most:",
        pathsOf(Metric.ALLOC_BYTES, ""),
        "B",
        "at most " + Quantity.text(limit, "B"),
        Quantity.text(actual, "B"));
  }

  /**
   * Exactly that of the method and all its callees: JUnit's own allocations around the method do not
   * count. Never another figure in its place.
   */
  private long allocated() {
    if (scope == Scope.PROCESS) return window.total(Metric.ALLOC_BYTES);
    MethodStats method;
    try {
      method = window.method(Metric.ALLOC_BYTES, test.pattern());
    } catch (IllegalStateException e) {
      throw new ExtensionConfigurationException(test.name() + ": @MaxAllocated: " + e.getMessage(), e);
    }
    if (method.calls() == 0) {
      throw new ExtensionConfigurationException(
          test.name() + ": @MaxAllocated: the test method has no probes, or ran in another thread; its"
              + " class must be in the recording's scope: include=" + test.className());
    }
    return method.cum() + window.descendantsTotal(Metric.ALLOC_BYTES);
  }

  private void checkCpu(MaxCpu annotation) {
    long limit = Quantity.nanos(annotation.value());
    long actual = window.total(Metric.CPU);
    if (actual <= limit) return;
    List<CallPath> paths = pathsOf(Metric.CPU, "");
    boolean isTimed = !paths.isEmpty();
    fail(
        test.name() + " took " + Quantity.text(actual, "ns") + " of processor time, more than"
            + " @MaxCpu(\"" + annotation.value() + "\") allows (" + Quantity.text(limit, "ns") + ")."
            + whenCold(),
        isTimed
            ? "The call paths that took most:"
            : "The call paths with the most calls (the agent's option clock=cpu shows their times):",
        isTimed ? paths : pathsOf(Metric.CALLS, ""),
        isTimed ? "ns" : "",
        "at most " + Quantity.text(limit, "ns"),
        Quantity.text(actual, "ns"));
  }

  private void checkCalls(ExpectCalls annotation) {
    long calls = window.method(Metric.CALLS, annotation.method()).calls();
    if (calls == 0) new ExpectedMethod(annotation.method()).check(test.loader());
    boolean tooMany = calls > annotation.max();
    if (!tooMany && calls >= annotation.min()) return;
    long limit = tooMany ? annotation.max() : annotation.min();
    fail(
        test.name() + " called " + annotation.method() + " " + times(calls) + ", "
            + (tooMany ? "more" : "less") + " than @ExpectCalls allows ("
            + (tooMany ? "at most " : "at least ") + Quantity.text(limit, "") + ").",
        "The call paths that called it most:",
        pathsOf(Metric.CALLS, annotation.method()),
        "",
        (tooMany ? "at most " : "at least ") + times(limit),
        times(calls));
  }

  private String whenCold() {
    return isFirst
        ? "\nThe first run of a method loads classes and fills caches, too: @Warmup(1) runs it once"
            + " before it is measured."
        : "";
  }

  private static String times(long calls) {
    return calls == 1 ? "once" : Quantity.text(calls, "") + " times";
  }

  /** The paths of the test method, without JUnit's around it; {@code end}: see Window.topPaths. */
  private List<CallPath> pathsOf(Metric metric, String end) {
    try {
      return window.topPaths(metric, scope == Scope.PROCESS ? "" : test.pattern(), end, PATHS);
    } catch (IllegalStateException | IllegalArgumentException e) {
      return List.of(); // not charged to call paths, or a name that no pattern can express
    }
  }

  private void fail(
      String what, String heading, List<CallPath> paths, String unit, String expected, String actual) {
    StringBuilder message = new StringBuilder(what);
    if (!paths.isEmpty()) message.append("\n").append(heading);
    for (CallPath path : paths) {
      message.append("\n  ").append(Quantity.text(path.value(), unit)).append("  ").append(path);
    }
    message.append("\nThe trace: ").append(trace.get());
    failures.add(new AssertionFailedError(message.toString(), expected, actual));
  }
}
