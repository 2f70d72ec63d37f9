package programs;

import java.lang.management.ManagementFactory;
import jtrace.api.Counter;
import jtrace.api.JTrace;
import jtrace.api.Measurement;
import jtrace.api.MethodStats;
import jtrace.api.Metric;
import jtrace.api.Reader;
import jtrace.api.Scope;
import jtrace.api.Window;

/** Queries totals and calls with known values. Prints "name=value". */
public final class Metrics {
  static volatile Object sink;

  private Metrics() {}

  static void arrays(int count, int bytes) {
    for (int i = 0; i < count; i++) array(bytes);
  }

  static void array(int bytes) {
    sink = new byte[bytes];
  }

  static void nested(int depth) {
    array(1000);
    if (depth > 1) nested(depth - 1);
  }

  public static void main(String[] args) throws Exception {
    arrays(1, 8);
    print("active", JTrace.isActive());
    print("metrics", JTrace.metrics().contains(Metric.ALLOC_BYTES));
    totals();
    readers();
    measurements();
    methods();
    windows();
    errors();
  }

  private static void totals() throws Exception {
    var beans = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    JTrace.total(Metric.ALLOC_BYTES);
    beans.getThreadAllocatedBytes(id);
    long theirs = beans.getThreadAllocatedBytes(id);
    long ours = JTrace.total(Metric.ALLOC_BYTES);
    print("like the JDK's", theirs == ours ? "yes" : ours - theirs);
    long before = JTrace.total(Metric.ALLOC_BYTES);
    arrays(100, 1000);
    // The first use of a string constant makes a string: not between the readings.
    long own = JTrace.total(Metric.ALLOC_BYTES) - before;
    print("own", own);
    long nothing = -JTrace.total(Metric.ALLOC_BYTES) + JTrace.total(Metric.ALLOC_BYTES);
    print("nothing", nothing);
    long process = JTrace.processTotal(Metric.ALLOC_BYTES);
    Thread other = new Thread(() -> arrays(10, 1000));
    other.start();
    other.join();
    print("ended thread", JTrace.total(other, Metric.ALLOC_BYTES) >= 10_160);
    print("process", JTrace.processTotal(Metric.ALLOC_BYTES) - process >= 10_160);
  }

  private static void readers() {
    Thread self = Thread.currentThread();
    Reader first = JTrace.reader(self, Metric.ALLOC_BYTES, Metric.CPU);
    Reader second = JTrace.reader(self, Metric.ALLOC_BYTES);
    long[] totals = new long[2];
    first.lastDelta(Metric.ALLOC_BYTES);
    second.lastDelta(Metric.ALLOC_BYTES);
    arrays(1, 1000);
    long one = first.lastDelta(Metric.ALLOC_BYTES);
    arrays(2, 1000);
    long two = first.lastDelta(Metric.ALLOC_BYTES);
    long three = second.lastDelta(Metric.ALLOC_BYTES);
    arrays(1, 1000);
    long total = first.total(Metric.ALLOC_BYTES);
    first.readInto(totals);
    long none = first.lastDelta(Metric.ALLOC_BYTES);
    print("readers", one + " " + two + " " + three + " " + (totals[0] - total) + " " + none);
    print("cpu", totals[1] > 0);
  }

  private static void measurements() {
    Measurement one = JTrace.measure(() -> arrays(100, 1000), Metric.ALLOC_BYTES);
    print("measure", one);
    int[] runs = {0};
    Measurement each =
        JTrace.perRun(
            25,
            () -> {
              arrays(2, 1000);
              if (++runs[0] == 7) arrays(50, 1000);
            },
            Metric.ALLOC_BYTES);
    print("perRun", each.get(Metric.ALLOC_BYTES) + " in " + runs[0]);
    Counter orders = JTrace.counter("orders");
    long before = JTrace.total(orders.metric());
    Measurement counted = JTrace.measure(() -> orders.add(7), orders.metric(), Metric.ALLOC_BYTES);
    print("counter", counted + " " + (JTrace.total(orders.metric()) - before));
  }

  private static void methods() {
    MethodStats before = JTrace.method("programs.Metrics::array");
    nested(5);
    arrays(10, 1000);
    print("array", JTrace.method("programs.Metrics::array").minus(before));
    print("nested", JTrace.method(Thread.currentThread(), "programs.Metrics::nested(int)"));
    print("bytes", JTrace.method(Metric.ALLOC_BYTES, "programs.Metrics.nested"));
    print("none", JTrace.method("no.such.Class::method"));
  }

  private static void windows() throws Exception {
    Window own = JTrace.window(Scope.THREAD, Metric.ALLOC_BYTES);
    Window family = JTrace.window(Scope.DESCENDANTS, Metric.ALLOC_BYTES);
    Window all = JTrace.window(Scope.PROCESS);
    arrays(3, 1000);
    Thread child = new Thread(() -> {
      arrays(4, 1000);
      Thread grandchild = new Thread(() -> arrays(5, 1000));
      grandchild.start();
      join(grandchild);
    });
    child.start();
    child.join();
    Thread.sleep(300); // meanwhile the writer thread removes the trees of ended threads
    String pattern = "programs.Metrics::arrays";
    print("window thread", own.method(Metric.ALLOC_BYTES, pattern));
    print("window family", family.method(Metric.ALLOC_BYTES, pattern));
    print("window process", all.method(Metric.ALLOC_BYTES, pattern));
    print("window total", family.total(Metric.ALLOC_BYTES) >= 12 * 1016);
    print("paths", all.topPaths(Metric.CALLS, "", "programs.Metrics::array", 5).size());
    own.topPaths(Metric.ALLOC_BYTES, "programs.Metrics::windows", "programs.Metrics::array", 1)
        .forEach(path -> print("path", path.value() + " " + path));
    own.close();
    family.close();
    all.close();
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void errors() {
    fails("pattern", () -> JTrace.method("array"));
    fails("running", () -> JTrace.start("out=" + System.getProperty("second")));
    fails("metric", () -> Metric.named("alloc.byts"));
    fails("no thread", () -> JTrace.total(null, Metric.ALLOC_BYTES));
    Reader reader = JTrace.processReader(Metric.ALLOC_BYTES, Metric.GC);
    fails("no room", () -> reader.readInto(new long[1]));
    Window closed = JTrace.window(Scope.THREAD);
    closed.close();
    fails("closed", () -> closed.method(Metric.CALLS, "programs.Metrics::array"));
    JTrace.stop();
    fails("stopped", () -> JTrace.method("programs.Metrics::array"));
    fails("window", () -> closed.method(Metric.CALLS, "programs.Metrics::array"));
    closed.close();
    JTrace.start("out=" + System.getProperty("second") + ",metrics=alloc.bytes,mode=events");
    arrays(6, 1000);
    print("second recording", JTrace.method(Metric.ALLOC_BYTES, "programs.Metrics::arrays"));
    JTrace.mark("before the end");
    print("dump", JTrace.dump().orElseThrow().toString().equals(System.getProperty("second")));
    JTrace.stop();
  }

  private static void fails(String name, Runnable run) {
    try {
      run.run();
      print(name, "did not fail");
    } catch (RuntimeException e) {
      print(name, e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
