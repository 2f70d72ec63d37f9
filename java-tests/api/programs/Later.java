package programs;

import java.util.ArrayList;
import java.util.List;
import jtrace.api.Counter;
import jtrace.api.JTrace;
import jtrace.api.Metric;

/** Runs before the agent is attached. Prints "name=value"; goes on after input on stdin. */
public final class Later {
  private Later() {}

  public static void main(String[] args) throws Exception {
    List<Counter> counters = new ArrayList<>();
    for (int i = 0; i < 17; i++) counters.add(JTrace.counter("c" + i)); // one more than there are
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
    for (Counter counter : counters) counter.increment();
    for (Counter counter : counters) counter.increment();
    long counted =
        JTrace.metrics().stream()
            .filter(it -> it.name().startsWith("user.") && JTrace.processTotal(it) == 2)
            .count();
    System.out.println("counted=" + counted + " of 17");
  }
}
