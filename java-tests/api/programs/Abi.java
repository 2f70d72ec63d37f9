package programs;

import jtrace.api.JTrace;
import jtrace.api.MethodStats;
import jtrace.api.Metric;
import jtrace.api.Segment;

/**
 * Queries through the C functions and through jtrace-api.jar, and compares. Arguments: the C
 * library, a command, and the command's arguments. Prints "name=value".
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

  static native int segments(int count, boolean onNativeThread);

  static native void startHandlers(int counter, int everyMicros);

  static native long handled();

  static native String stopHandlers();

  public static void main(String[] args) throws Exception {
    System.load(args[0]);
    switch (args[1]) {
      case "load" -> print("loaded", find() + " " + loadOnly(args[2]));
      case "serve" -> serve();
      case "handlers" -> handlers(Long.parseLong(args[2]));
      case "segments" -> nativeSegments();
      default -> {
        print("found", find() + " " + !version().isEmpty() + " " + attach());
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
      else print(metric.name(), String.join(" ", fields));
    }
    print("same", same == JTrace.metrics().size() && metrics() >= same);
  }

  private static void totals() throws Exception {
    int bytes = id("alloc.bytes");
    int equal = 0;
    int unequal = 0;
    for (int i = 0; i < 20_000; i++) {
      long before = JTrace.total(Metric.ALLOC_BYTES);
      long own = own(bytes);
      long after = JTrace.total(Metric.ALLOC_BYTES);
      // The JVM allocates for this thread when it links or compiles the code that runs here.
      if (before == own && own == after) equal++;
      if (before == after && own != before) unequal++;
      sink = new byte[1000];
    }
    print("equal", (equal >= 19_900) + " " + unequal);
    long before = own(bytes);
    for (int i = 0; i < 100; i++) sink = new byte[1000];
    // The first use of a string constant makes a string: not between the readings.
    long allocated = own(bytes) - before;
    print("allocated", allocated);
    long all = total(PROCESS, 0, bytes);
    Thread other = new Thread(() -> sink = new byte[100_000]);
    other.start();
    other.join();
    long id = other.getId();
    print("process", total(PROCESS, 0, bytes) - all >= 100_016);
    print("ended", total(JAVA, id, bytes) == JTrace.total(other, Metric.ALLOC_BYTES));
    long os = total(OS, osTid(), bytes);
    print("by tids", os >= before && total(JAVA, Thread.currentThread().getId(), bytes) >= os);
    int cpu = id("cpu.ns");
    long first = JTrace.total(Metric.CPU);
    long second = own(cpu);
    print("cpu", first <= second && second <= JTrace.total(Metric.CPU));
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
    print("readers", one + " " + two + " " + both + " " + none);
    print(
        "closed",
        readerClose(first) + " " + readerClose(first) + " " + readerDelta(first) + " " + code());
    readerClose(second);
  }

  private static void counters() {
    int perCpu = counter("events", PER_CPU);
    int byThread = counter("shared", 0);
    print("counters", describe(perCpu) + " " + describe(byThread));
    long sum = countInThreads(perCpu, 8, 20, 50_000, false);
    print("per cpu", sum > 0 && total(PROCESS, 0, perCpu) == sum);
    Metric events = Metric.named("user.events");
    print("java", JTrace.processTotal(events) == sum);
    long shared = countInThreads(byThread, 8, 20, 50_000, true);
    JTrace.counter("shared").add(5);
    Metric sharedMetric = Metric.named("user.shared");
    print("by thread", shared == sum && JTrace.processTotal(sharedMetric) == sum + 5);
    print("own", add(byThread, 7) + " " + own(byThread) + " " + JTrace.total(sharedMetric));
    String metrics = command("metrics", "--format=prometheus", false);
    String start = "jtrace_process_user_events";
    String end = " " + sum;
    print(
        "metrics",
        metrics.lines().anyMatch(line -> line.startsWith(start) && line.endsWith(end)));
    own(perCpu);
    print("own per cpu", code() + " " + errorText(code()));
    total(JAVA, Thread.currentThread().getId(), perCpu);
    print("thread per cpu", code());
    fails("java own per cpu", () -> JTrace.total(events));
    fails("java other per cpu", () -> JTrace.total(new Thread(), events));
    fails("java counter", () -> JTrace.counter("events"));
    counter("shared", PER_CPU);
    print("other kind", code());
    print("unattached", unattached(byThread) + " " + unattached(perCpu));
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
    print("method", method(calls, PROCESS, 0, 0, pattern));
    print("like java's", total.toString().equals(method(calls, PROCESS, 0, 0, pattern)));
    print("bytes", method(bytes, PROCESS, 0, 0, pattern));
    String ofJava = JTrace.method(Metric.ALLOC_BYTES, pattern).toString();
    print("like java's bytes", ofJava.equals(method(bytes, PROCESS, 0, 0, pattern)));
    print("thread", method(calls, OWN, 0, 0, pattern));
    String byOsId = method(calls, OS, osTid(), 0, pattern);
    print("thread by tids", method(calls, JAVA, self, 0, pattern).equals(byOsId));
    print("window", method(calls, 0, 0, own, pattern));
    print("window process", method(bytes, 0, 0, all, pattern));
    print(
        "close",
        windowClose(own) + " " + windowClose(own) + " " + method(calls, 0, 0, own, pattern));
    windowClose(all);
    print("none", method(calls, PROCESS, 0, 0, "no.such::method"));
    print("wrong pattern", method(calls, PROCESS, 0, 0, "step"));
    print("not charged", method(id("cpu.ns"), PROCESS, 0, 0, pattern));
    print("wrong thread", method(calls, JAVA, 1L << 40, 0, pattern));
  }

  private static void errors() {
    id("alloc.byts");
    print("wrong name", code() + " " + errorText(code()));
    own(99);
    print("wrong id", code());
    own(id("exceptions"));
    print("not counted", code() + " " + errorText(code()));
    own(id("gc.ns"));
    print("process only", code());
    own(id("io.read.bytes"));
    print("file", code() + " " + (total(OWN, 0, id("io.read.bytes")) > 0));
    total(OS, 1, id("cpu.ns"));
    print("no thread", code());
    total(9, 0, 0);
    print("no such whose", code());
    counter("a b", 0);
    print("no name", code() + " " + errorText(code()));
    print("add", add(id("cpu.ns"), 1));
  }

  private static void commands(String second) {
    print("status", command("status", null, false).startsWith("state     recording"));
    print("mark", command("mark", "from C", true) + code());
    boolean runs = command("start", "out=" + second, false).contains("a recording already runs");
    print("running", runs + " " + code());
    print("wrong", command("begin", null, false).strip() + " " + code());
    print("stop", command("stop", null, true).contains(" calls") + " " + code());
    String idle = method(id("calls"), PROCESS, 0, 0, "programs.Abi::step");
    print("idle", idle + " " + windowOpen(PROCESS) + " " + code());
    print("stop again", command("stop", null, false).strip() + " " + code());
    boolean starts = command("start", "out=" + second, true).contains("recording to " + second);
    print("start", starts + " " + code());
    step(2);
    print("second", method(id("calls"), PROCESS, 0, 0, "programs.Abi::step"));
    print("dump", command("dump", null, false).strip().equals(second) + " " + code());
  }

  /** The agent is attached while this runs and records nothing. */
  private static void serve() throws Exception {
    print("before", find() + " " + JTrace.isActive());
    System.in.read();
    boolean found = find();
    own(0);
    print("unattached", code());
    print("after", found + " " + JTrace.isActive());
    sink = new byte[8];
    int bytes = id("alloc.bytes");
    total(JAVA, Thread.currentThread().getId(), bytes);
    print("seen", code());
    long before = JTrace.total(Metric.ALLOC_BYTES);
    sink = new byte[1000];
    long java = JTrace.total(Metric.ALLOC_BYTES) - before;
    print("bytes", attach() + " " + java + " " + (own(bytes) == JTrace.total(Metric.ALLOC_BYTES)));
    print("idle", command("stop", null, false).strip() + " " + code());
  }

  /** On this thread, on one that the JVM does not know, and on a virtual one. */
  @SuppressWarnings("try") // the segment is not used in its block
  private static void nativeSegments() {
    boolean isVirtual = Runtime.version().feature() >= 21;
    int[] errors = {find() ? 0 : 1};
    try (Segment java = JTrace.segment("java")) {
      errors[0] += segments(2, false);
    }
    if (isVirtual) VirtualThreads.join(VirtualThreads.start(() -> errors[0] += segments(4, false)));
    errors[0] += segments(20_000, true); // more than have a record, so last
    print("errors", errors[0]);
    print("segments", isVirtual ? 20_006 : 20_002);
  }

  /** A signal handler queries and counts while this thread allocates, calls and collects. */
  private static void handlers(long readings) {
    find();
    attach();
    int counter = counter("handled", 0);
    startHandlers(counter, 50);
    while (handled() < readings) {
      for (int i = 0; i < 1000; i++) step(1 + i % 5);
    }
    print("handlers", stopHandlers());
  }

  private static void fails(String name, Runnable run) {
    try {
      run.run();
      print(name, "no exception");
    } catch (RuntimeException e) {
      print(name, e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
