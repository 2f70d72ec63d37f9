package programs;

import jtrace.api.JTrace;
import jtrace.api.MethodStats;
import jtrace.api.Metric;

/**
 * Asks by the C functions and by jtrace-api.jar, and compares. Arguments: the C library, what to do, and
 * what that needs. Prints "name=value".
 */
public final class Abi {
  private static final int PROCESS = 0;
  private static final int OWN = 1;
  private static final int JAVA = 2;
  private static final int OS = 3;
  private static final int PER_CPU = 1;

  static volatile Object sink;

  private Abi() {}

  static native boolean find();

  static native String loadOnly(String path);

  static native String version();

  /** Of the last call. */
  static native int code();

  static native String errorText(int code);

  static native long osTid();

  static native int id(String name);

  static native String describe(int id);

  static native int metrics();

  static native int attach();

  static native long own(int id);

  static native long total(int of, long thread, int id);

  static native long readerOpen(int of, long thread, int id);

  static native long readerDelta(long reader);

  static native int readerClose(long reader);

  static native int counter(String name, int flags);

  static native int add(int id, long delta);

  static native long windowOpen(int of);

  static native int windowClose(long window);

  static native String method(int metric, int of, long thread, long window, String pattern);

  static native String command(String verb, String argument, boolean onNativeThread);

  static native long countInThreads(int id, int threads, int lives, int each, boolean attach);

  static native String unattached(int id);

  static native void startHandlers(int counter, int everyMicros);

  static native long handled();

  static native String stopHandlers();

  public static void main(String[] args) throws Exception {
    System.load(args[0]);
    switch (args[1]) {
      case "load" -> tell("loaded", find() + " " + loadOnly(args[2]));
      case "serve" -> serve();
      case "handlers" -> handlers(Long.parseLong(args[2]));
      default -> {
        tell("found", find() + " " + !version().isEmpty() + " " + attach());
        names();
        totals();
        readers();
        counters();
        methods();
        errors();
        commands(args[2]);
      }
    }
  }

  private static void names() {
    int same = 0;
    for (Metric metric : JTrace.metrics()) {
      String[] fields = describe(id(metric.name())).split("\\|", -1);
      boolean isSame =
          fields[0].equals(metric.name())
              && fields[1].equals(metric.unit())
              && Integer.parseInt(fields[2]) == metric.reach().ordinal()
              && fields[3].equals("0");
      if (isSame) same++;
      else tell(metric.name(), String.join(" ", fields));
    }
    tell("same", same == JTrace.metrics().size() && metrics() >= same);
  }

  private static void totals() throws Exception {
    int bytes = id("alloc.bytes");
    int equal = 0;
    int unequal = 0;
    for (int i = 0; i < 20_000; i++) {
      long before = JTrace.total(Metric.ALLOC_BYTES);
      long own = own(bytes);
      long after = JTrace.total(Metric.ALLOC_BYTES);
      // The JVM allocates for this thread when it links or compiles what runs here.
      if (before == own && own == after) equal++;
      if (before == after && own != before) unequal++;
      sink = new byte[1000];
    }
    tell("equal", (equal >= 19_900) + " " + unequal);
    long before = own(bytes);
    for (int i = 0; i < 100; i++) sink = new byte[1000];
    // The first use of a string constant makes a string: not between the readings.
    long allocated = own(bytes) - before;
    tell("allocated", allocated);
    long all = total(PROCESS, 0, bytes);
    Thread other = new Thread(() -> sink = new byte[100_000]);
    other.start();
    other.join();
    long id = other.getId();
    tell("process", total(PROCESS, 0, bytes) - all >= 100_016);
    tell("ended", total(JAVA, id, bytes) == JTrace.total(other, Metric.ALLOC_BYTES));
    long os = total(OS, osTid(), bytes);
    tell("by tids", os >= before && total(JAVA, Thread.currentThread().getId(), bytes) >= os);
    int cpu = id("cpu.ns");
    long first = JTrace.total(Metric.CPU);
    long second = own(cpu);
    tell("cpu", first <= second && second <= JTrace.total(Metric.CPU));
  }

  private static void readers() {
    int bytes = id("alloc.bytes");
    long first = readerOpen(OWN, 0, bytes);
    long second = readerOpen(JAVA, Thread.currentThread().getId(), bytes);
    readerDelta(first);
    readerDelta(second);
    sink = new byte[1000];
    long one = readerDelta(first);
    sink = new byte[2000];
    long two = readerDelta(first);
    long both = readerDelta(second);
    long none = readerDelta(first);
    tell("readers", one + " " + two + " " + both + " " + none);
    tell("closed", readerClose(first) + " " + readerClose(first) + " " + readerDelta(first) + " " + code());
    readerClose(second);
  }

  private static void counters() {
    int perCpu = counter("events", PER_CPU);
    int byThread = counter("shared", 0);
    tell("counters", describe(perCpu) + " " + describe(byThread));
    long sum = countInThreads(perCpu, 8, 20, 50_000, false);
    tell("per cpu", sum > 0 && total(PROCESS, 0, perCpu) == sum);
    Metric events = Metric.named("user.events");
    tell("java", JTrace.processTotal(events) == sum);
    long shared = countInThreads(byThread, 8, 20, 50_000, true);
    JTrace.counter("shared").add(5);
    tell("by thread", shared == sum && JTrace.processTotal(Metric.named("user.shared")) == sum + 5);
    tell("own", add(byThread, 7) + " " + own(byThread) + " " + JTrace.total(Metric.named("user.shared")));
    String metrics = command("metrics", "--format=prometheus", false);
    tell("metrics", metrics.lines().anyMatch(line -> line.startsWith("jtrace_process_user_events") && line.endsWith(" " + sum)));
    own(perCpu);
    tell("own per cpu", code() + " " + errorText(code()));
    total(JAVA, Thread.currentThread().getId(), perCpu);
    tell("thread per cpu", code());
    fails("java own per cpu", () -> JTrace.total(events));
    fails("java other per cpu", () -> JTrace.total(new Thread(), events));
    fails("java counter", () -> JTrace.counter("events"));
    counter("shared", PER_CPU);
    tell("other kind", code());
    tell("unattached", unattached(byThread) + " " + unattached(perCpu));
  }

  static void step(int depth) {
    sink = new byte[1000];
    if (depth > 1) step(depth - 1);
  }

  private static void methods() throws Exception {
    int calls = id("calls");
    int bytes = id("alloc.bytes");
    String pattern = "programs.Abi::step";
    long own = windowOpen(OWN);
    long all = windowOpen(PROCESS);
    step(5);
    Thread other = new Thread(() -> step(3));
    other.start();
    other.join();
    MethodStats total = JTrace.method(pattern);
    long self = Thread.currentThread().getId();
    tell("method", method(calls, PROCESS, 0, 0, pattern));
    tell("like java's", total.toString().equals(method(calls, PROCESS, 0, 0, pattern)));
    tell("bytes", method(bytes, PROCESS, 0, 0, pattern));
    tell("like java's bytes", JTrace.method(Metric.ALLOC_BYTES, pattern).toString().equals(method(bytes, PROCESS, 0, 0, pattern)));
    tell("thread", method(calls, OWN, 0, 0, pattern));
    tell("thread by tids", method(calls, JAVA, self, 0, pattern).equals(method(calls, OS, osTid(), 0, pattern)));
    tell("window", method(calls, 0, 0, own, pattern));
    tell("window process", method(bytes, 0, 0, all, pattern));
    tell("close", windowClose(own) + " " + windowClose(own) + " " + method(calls, 0, 0, own, pattern));
    windowClose(all);
    tell("none", method(calls, PROCESS, 0, 0, "no.such::method"));
    tell("wrong pattern", method(calls, PROCESS, 0, 0, "step"));
    tell("not charged", method(id("cpu.ns"), PROCESS, 0, 0, pattern));
    tell("wrong thread", method(calls, JAVA, 1L << 40, 0, pattern));
  }

  private static void errors() {
    id("alloc.byts");
    tell("wrong name", code() + " " + errorText(code()));
    own(99);
    tell("wrong id", code());
    own(id("exceptions"));
    tell("not counted", code() + " " + errorText(code()));
    own(id("gc.ns"));
    tell("process only", code());
    own(id("io.read.bytes"));
    tell("file", code() + " " + (total(OWN, 0, id("io.read.bytes")) > 0));
    total(OS, 1, id("cpu.ns"));
    tell("no thread", code());
    total(9, 0, 0);
    tell("no such whose", code());
    counter("a b", 0);
    tell("no name", code() + " " + errorText(code()));
    tell("add", add(id("cpu.ns"), 1));
  }

  private static void commands(String second) {
    tell("status", command("status", null, false).startsWith("state     recording"));
    tell("mark", command("mark", "from C", true) + code());
    tell("running", command("start", "out=" + second, false).contains("a recording runs already") + " " + code());
    tell("wrong", command("begin", null, false).strip() + " " + code());
    tell("stop", command("stop", null, true).contains(" calls") + " " + code());
    tell("idle", method(id("calls"), PROCESS, 0, 0, "programs.Abi::step") + " " + windowOpen(PROCESS) + " " + code());
    tell("stop again", command("stop", null, false).strip() + " " + code());
    tell("start", command("start", "out=" + second, true).contains("recording to " + second) + " " + code());
    step(2);
    tell("second", method(id("calls"), PROCESS, 0, 0, "programs.Abi::step"));
    tell("dump", command("dump", null, false).strip().equals(second) + " " + code());
  }

  /** The agent is attached while this runs, with nothing to record. */
  private static void serve() throws Exception {
    tell("before", find() + " " + JTrace.isActive());
    System.in.read();
    boolean found = find();
    own(0);
    tell("unattached", code());
    tell("after", found + " " + JTrace.isActive());
    sink = new byte[8];
    int bytes = id("alloc.bytes");
    total(JAVA, Thread.currentThread().getId(), bytes);
    tell("met", code());
    long before = JTrace.total(Metric.ALLOC_BYTES);
    sink = new byte[1000];
    long java = JTrace.total(Metric.ALLOC_BYTES) - before;
    tell("bytes", attach() + " " + java + " " + (own(bytes) == JTrace.total(Metric.ALLOC_BYTES)));
    tell("idle", command("stop", null, false).strip() + " " + code());
  }

  /** A signal handler asks and counts while this thread allocates, calls and collects. */
  private static void handlers(long readings) {
    find();
    attach();
    int counter = counter("handled", 0);
    startHandlers(counter, 50);
    while (handled() < readings) {
      for (int i = 0; i < 1000; i++) step(1 + i % 5);
    }
    tell("handlers", stopHandlers());
  }

  private static void fails(String name, Runnable run) {
    try {
      run.run();
      tell(name, "no exception");
    } catch (RuntimeException e) {
      tell(name, e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static void tell(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
