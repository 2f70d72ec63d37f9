package jtrace.api;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A resource that is counted for each thread. The constants exist whether or not the agent can
 * count them; {@link JTrace#metrics} has those that it counts.
 */
public final class Metric {
  /** The levels at which a metric's values are known. */
  public enum Reach {
    /** By call path, thread and process. */
    PATH,
    /** By thread and process. */
    THREAD,
    /** As one total. */
    PROCESS
  }

  private static final Map<String, Metric> BY_NAME = new ConcurrentHashMap<>();

  /** Bytes allocated on the heap, without allocations that escape analysis removes. */
  public static final Metric ALLOC_BYTES = define("alloc.bytes", "B", Reach.PATH);
  public static final Metric ALLOC_OBJECTS = define("alloc.objects", "", Reach.PATH);
  /** Executions of bytecodes that allocate, in methods with probes: the same on every run. */
  public static final Metric ALLOC_SITES = define("alloc.sites", "", Reach.PATH);
  /** Of the objects allocated since the recording began, those that no collection found dead yet. */
  public static final Metric LIVE_BYTES = define("live.bytes", "B", Reach.PROCESS);
  /** The others; grows some time after each collection. */
  public static final Metric FREED_BYTES = define("freed.bytes", "B", Reach.PROCESS);
  public static final Metric LIVE_OBJECTS = define("live.objects", "", Reach.PROCESS);
  public static final Metric FREED_OBJECTS = define("freed.objects", "", Reach.PROCESS);
  /** Processor time. */
  public static final Metric CPU = define("cpu.ns", "ns", Reach.THREAD);
  public static final Metric WALL = define("wall.ns", "ns", Reach.THREAD);
  public static final Metric OFF_CPU = define("offcpu.ns", "ns", Reach.THREAD);
  public static final Metric SWITCHES = define("switches", "", Reach.THREAD);
  /** Calls of methods with probes. */
  public static final Metric CALLS = define("calls", "", Reach.PATH);
  public static final Metric EXCEPTIONS = define("exceptions", "", Reach.PATH);
  public static final Metric MONITOR_WAIT = define("monitor.wait.ns", "ns", Reach.PATH);
  public static final Metric GC = define("gc.ns", "ns", Reach.PROCESS);
  public static final Metric PAGE_FAULTS = define("page.faults", "", Reach.THREAD);
  public static final Metric READ_BYTES = define("io.read.bytes", "B", Reach.THREAD);
  public static final Metric WRITTEN_BYTES = define("io.write.bytes", "B", Reach.THREAD);
  public static final Metric JIT = define("jit.ns", "ns", Reach.PROCESS);
  /** Read through the JDK's streams, channels and sockets. */
  public static final Metric JAVA_READ_BYTES = define("java.read.bytes", "B", Reach.PATH);
  public static final Metric JAVA_WRITTEN_BYTES = define("java.write.bytes", "B", Reach.PATH);
  /** In their reads, writes, connects and accepts. */
  public static final Metric JAVA_IO = define("java.io.ns", "ns", Reach.PATH);

  /** Of the kernel's events: 2 us each, and only where it allows them. */
  public static final Metric PATH_PAGE_FAULTS = define("path.page.faults", "", Reach.PATH);
  public static final Metric PATH_SWITCHES = define("path.switches", "", Reach.PATH);
  public static final Metric PATH_CYCLES = define("path.cycles", "", Reach.PATH);
  public static final Metric PATH_INSTRUCTIONS = define("path.instructions", "", Reach.PATH);
  public static final Metric PATH_CACHE_MISSES = define("path.cache.misses", "", Reach.PATH);
  /** In calls out of scope that depend on others, with boundary=costs; callbacks not included. */
  public static final Metric OUTSIDE = define("outside.ns", "ns", Reach.PATH);
  /** Elements given to calls out of scope whose cost depends on them, with boundary=costs. */
  public static final Metric OUTSIDE_ELEMENTS = define("outside.elements", "", Reach.PATH);

  private static final String USER_PREFIX = "user.";
  private static final int NONE = -1;

  /** The data that only the agent has. */
  private record Details(String exactness, String cost, String meaning) {
    static final Details UNKNOWN = new Details("", "", "");
  }

  private final String name;
  private volatile String unit;
  private volatile Reach reach;
  private volatile Details details = Details.UNKNOWN;
  // Set once, before Natives is initialized, or before a counter is handed out.
  private int id = NONE;

  private Metric(String name, String unit, Reach reach) {
    this.name = name;
    this.unit = unit;
    this.reach = reach;
  }

  private static Metric define(String name, String unit, Reach reach) {
    return BY_NAME.computeIfAbsent(name, it -> new Metric(it, unit, reach));
  }

  /**
   * The metric of that name: {@code alloc.bytes}, or {@code user.orders} for the counter
   * {@code orders}.
   *
   * @throws IllegalArgumentException if there is no such metric
   */
  public static Metric named(String name) {
    Metric metric = BY_NAME.get(name);
    if (metric == null && Agent.find()) {
      learn(Natives.describe());
      metric = BY_NAME.get(name);
    }
    if (metric != null) return metric;
    if (name.startsWith(USER_PREFIX)) return define(name, "", Reach.PATH);
    throw new IllegalArgumentException(
        "no metric is called " + name + "; these are: " + String.join(" ", known()));
  }

  private static Set<String> known() {
    return new java.util.TreeSet<>(BY_NAME.keySet());
  }

  static Metric user(String counter, String unit) {
    return define(USER_PREFIX + counter, unit, Reach.PATH);
  }

  /** Sets the agent's number for it. */
  void number(int id) {
    this.id = id;
  }

  /**
   * Reads the agent's table: "name, unit, exactness, cost, reach, meaning", separated by tabs.
   * Returns the metrics that the agent counts.
   */
  static Set<Metric> learn(String[] rows) {
    Set<Metric> available = new LinkedHashSet<>();
    for (int i = 0; i < rows.length; i++) {
      if (rows[i] == null) continue;
      String[] fields = rows[i].split("\t", -1);
      Reach reach = Reach.valueOf(fields[4].toUpperCase(java.util.Locale.ROOT));
      Metric metric = define(fields[0], fields[1], reach);
      metric.unit = fields[1];
      metric.reach = reach;
      metric.details = new Details(fields[2], fields[3], fields[5]);
      metric.id = i;
      available.add(metric);
    }
    return Collections.unmodifiableSet(available);
  }

  /** The agent's number for it; below 0: it has none (yet). */
  int idOrNone() {
    return id;
  }

  /** The agent's number for it. */
  int id() {
    if (id == NONE) learn(Natives.describe());
    if (id == NONE) {
      throw new UnsupportedOperationException(
          name + " is not counted here; see JTrace.metrics()");
    }
    return id;
  }

  /** The same, for a query about a thread. */
  int idOfThreads() {
    int number = id();
    if (reach == Reach.PROCESS) {
      throw new UnsupportedOperationException(
          name + " is known only for the process: ask JTrace.processTotal");
    }
    return number;
  }

  /** {@code alloc.bytes}. */
  public String name() {
    return name;
  }

  /** {@code B}, {@code ns}; empty for numbers of things. */
  public String unit() {
    return unit;
  }

  public Reach reach() {
    return reach;
  }

  /** How exact it is, for people; empty without the agent. */
  public String exactness() {
    return details.exactness();
  }

  /** The cost of counting it, for people; empty without the agent. */
  public String cost() {
    return details.cost();
  }

  /** Its meaning, for people; empty without the agent. */
  public String meaning() {
    return details.meaning();
  }

  @Override
  public String toString() {
    return name;
  }
}
