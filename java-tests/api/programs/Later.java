package programs;

import jtrace.api.JTrace;
import jtrace.api.Metric;

/** Runs before the agent comes. Prints "name=value"; goes on when standard input says so. */
public final class Later {
  private Later() {}

  public static void main(String[] args) throws Exception {
    System.out.println("before=" + JTrace.isActive() + " " + JTrace.total(Metric.ALLOC_BYTES));
    System.in.read();
    boolean active = JTrace.isActive();
    Metrics.arrays(1, 8); // the class is loaded now
    long before = JTrace.total(Metric.ALLOC_BYTES);
    Metrics.arrays(5, 1000);
    long bytes = JTrace.total(Metric.ALLOC_BYTES) - before;
    System.out.println("after=" + active + " " + bytes);
    System.out.println(
        "method=" + JTrace.method(Thread.currentThread(), "programs.Metrics::arrays"));
  }
}
