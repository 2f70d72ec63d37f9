package programs;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import jtrace.api.Counter;
import jtrace.api.JTrace;
import jtrace.api.Label;
import jtrace.api.Measurement;
import jtrace.api.Metric;
import jtrace.api.Reader;
import jtrace.api.Segment;

/** Calls the whole API in a JVM without the agent. Prints "name=value". */
public final class NoAgent {
  static int runs;
  static long sink;

  private NoAgent() {}

  public static void main(String[] args) throws Exception {
    print("active", JTrace.isActive());
    print("metrics", JTrace.metrics().size());
    print("total", JTrace.total(Metric.ALLOC_BYTES));
    print("threadTotal", JTrace.total(Thread.currentThread(), Metric.CPU));
    print("processTotal", JTrace.processTotal(Metric.GC));
    try (Reader reader = JTrace.reader(Thread.currentThread(), Metric.ALLOC_BYTES)) {
      print("delta", reader.lastDelta(Metric.ALLOC_BYTES));
    }
    Measurement measured = JTrace.measure(() -> runs++);
    print("measured", measured.get(Metric.ALLOC_BYTES));
    print("text", measured);
    JTrace.perRun(20, () -> runs++);
    print("runs", runs);
    Counter orders = JTrace.counter("orders");
    orders.add(5);
    print("counter", orders.metric().name() + " " + JTrace.total(orders.metric()));
    JTrace.start("out=never.bin");
    JTrace.mark("this has no effect");
    JTrace.stop();
    print("dump", JTrace.dump());
    Path copy = Path.of(args[0]);
    JTrace.dump(copy);
    print("copied", Files.exists(copy));
    print("status", JTrace.status().isEmpty());
    print("unit", Metric.named("alloc.bytes").unit());
    try {
      Metric.named("aloc.bytes");
    } catch (IllegalArgumentException e) {
      String start = "no metric is called aloc.bytes; these are: alloc.";
      print("unknown", e.getMessage().startsWith(start));
    }
    for (String[] counter : new String[][] {{"orders/s", ""}, {"", ""}, {"orders", "a\tb"}}) {
      try {
        JTrace.counter(counter[0], counter[1]);
      } catch (IllegalArgumentException e) {
        String name = String.join(",", counter).replace("\t", " ");
        print("refused " + name, e.getMessage().contains("use"));
      }
    }
    for (String key : new String[] {"tenant id", ""}) {
      try {
        JTrace.label(key, "acme");
      } catch (IllegalArgumentException e) {
        print("refused label " + key, e.getMessage().contains("use"));
      }
    }
    try (Label label = JTrace.label("tenant", "acme")) {
      print("label", label == JTrace.label("kind", "query"));
    }
    try (Segment segment = JTrace.segment("checkout")) {
      print("segment", segment == JTrace.segment("pay"));
    }
    try {
      JTrace.segment("");
    } catch (IllegalArgumentException e) {
      print("refused segment", e.getMessage());
    }
    print("bytes", leastBytes());
  }

  /** Bytes of 1,000 totals, labels and segments: the least of some tries, because looking for the agent may allocate. */
  private static long leastBytes() {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 50; round++) {
      long before = threads.getThreadAllocatedBytes(id);
      for (int i = 0; i < 1000; i++) {
        sink += JTrace.total(Metric.ALLOC_BYTES);
        JTrace.label("tenant", "acme").close();
        JTrace.segment("checkout").close();
      }
      least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
    }
    return least;
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
