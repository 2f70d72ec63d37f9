package programs;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import jtrace.api.Counter;
import jtrace.api.JTrace;
import jtrace.api.Measurement;
import jtrace.api.Metric;
import jtrace.api.Reader;

/** A program that asks for everything where no agent is. Prints "name=value". */
public final class NoAgent {
  static int runs;
  static long sink;

  private NoAgent() {}

  public static void main(String[] args) throws Exception {
    tell("active", JTrace.isActive());
    tell("metrics", JTrace.metrics().size());
    tell("total", JTrace.total(Metric.ALLOC_BYTES));
    tell("threadTotal", JTrace.total(Thread.currentThread(), Metric.CPU));
    tell("processTotal", JTrace.processTotal(Metric.GC));
    try (Reader reader = JTrace.reader(Thread.currentThread(), Metric.ALLOC_BYTES)) {
      tell("delta", reader.lastDelta(Metric.ALLOC_BYTES));
    }
    Measurement measured = JTrace.measure(() -> runs++);
    tell("measured", measured.get(Metric.ALLOC_BYTES));
    tell("text", measured);
    JTrace.perRun(20, () -> runs++);
    tell("runs", runs);
    Counter orders = JTrace.counter("orders");
    orders.add(5);
    tell("counter", orders.metric().name() + " " + JTrace.total(orders.metric()));
    JTrace.start("out=never.bin");
    JTrace.mark("nobody reads this");
    JTrace.stop();
    tell("dump", JTrace.dump());
    Path copy = Path.of(args[0]);
    JTrace.dump(copy);
    tell("copied", Files.exists(copy));
    tell("status", JTrace.status().isEmpty());
    tell("unit", Metric.named("alloc.bytes").unit());
    try {
      Metric.named("aloc.bytes");
    } catch (IllegalArgumentException e) {
      tell("unknown", e.getMessage().startsWith("no metric is called aloc.bytes; these are: alloc."));
    }
    for (String[] counter : new String[][] {{"orders/s", ""}, {"", ""}, {"orders", "a\tb"}}) {
      try {
        JTrace.counter(counter[0], counter[1]);
      } catch (IllegalArgumentException e) {
        tell("refused " + String.join(",", counter).replace("\t", " "), e.getMessage().contains("use"));
      }
    }
    tell("bytes", leastBytes());
  }

  /** Of 1,000 totals; looking for the agent now and then may take some, so the least of some tries. */
  private static long leastBytes() {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 50; round++) {
      long before = threads.getThreadAllocatedBytes(id);
      for (int i = 0; i < 1000; i++) sink += JTrace.total(Metric.ALLOC_BYTES);
      least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
    }
    return least;
  }

  private static void tell(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
