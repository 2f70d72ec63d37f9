package jtrace.api;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The jtrace agent's metrics, queried from inside the program.
 *
 * <p>Without the agent nothing is counted: totals are 0, {@link #measure} only runs its argument,
 * and commands do nothing. An agent that is attached later is found within 100 ms, or at once by
 * {@link #isActive}. Totals of the calling thread are read without allocation. An unavailable value
 * is an exception whose message says what would help, never a wrong number.
 */
public final class JTrace {
  private JTrace() {}

  /** Whether the agent is in this JVM. */
  public static boolean isActive() {
    return Agent.find();
  }

  /** The metrics that are available now; none without the agent. */
  public static Set<Metric> metrics() {
    return Agent.find() ? Metric.learn(Natives.describe()) : Set.of();
  }

  /** The calling thread's count since it started, or since the agent was attached if later. */
  public static long total(Metric metric) {
    return Agent.isThere() ? Natives.total(metric.idOfThreads()) : 0;
  }

  /** The same for any thread, also for an ended one. */
  public static long total(Thread thread, Metric metric) {
    Objects.requireNonNull(thread, "no thread; use JTrace.processTotal for all");
    if (!Agent.isThere()) return 0;
    return thread == Thread.currentThread()
        ? Natives.total(metric.idOfThreads())
        : Natives.totalOf(thread, metric.idOfThreads());
  }

  /** The same for all threads, including ended ones. */
  public static long processTotal(Metric metric) {
    return Agent.isThere() ? Natives.processTotal(metric.id()) : 0;
  }

  /** Reads metrics of a thread repeatedly. */
  public static Reader reader(Thread thread, Metric... metrics) {
    return new TotalsReader(Objects.requireNonNull(thread), metrics);
  }

  /** Reads totals of the process repeatedly. */
  public static Reader processReader(Metric... metrics) {
    return new TotalsReader(null, metrics);
  }

  /** The calling thread's counts while {@code run} runs, in all metrics of a thread. */
  public static Measurement measure(Runnable run) {
    return measure(run, Measuring.measurable());
  }

  /** The same in the given metrics only, whose readings then take less time. */
  public static Measurement measure(Runnable run, Metric... metrics) {
    return new Measuring(isActive() ? metrics.clone() : new Metric[0]).once(run);
  }

  /**
   * The counts of one run: after one run that is not counted, {@code runs} more in ten parts; the
   * result is the least part, divided by its runs and rounded down. So occasional work, such as the
   * growth of a cache, is left out.
   */
  public static Measurement perRun(int runs, Runnable run) {
    return perRun(runs, run, Measuring.measurable());
  }

  /** The same in the given metrics only. */
  public static Measurement perRun(int runs, Runnable run, Metric... metrics) {
    if (runs <= 0) throw new IllegalArgumentException(runs + " runs; at least 1");
    return new Measuring(isActive() ? metrics.clone() : new Metric[0]).perRun(runs, run);
  }

  /**
   * The recording's counts so far of the methods that the pattern names: {@code
   * com.acme.Cache::load}, {@code com.acme.**::get*(String)}, as in the agent's option {@code
   * include=}. Base and cum are numbers of calls: of the methods themselves, and including all
   * their callees. Needs a recording with call trees, {@code record=tree}.
   *
   * @throws IllegalStateException if there is none
   */
  public static MethodStats method(String pattern) {
    return method(Metric.CALLS, pattern);
  }

  /** The same with base and cum of another metric that is charged to call paths. */
  public static MethodStats method(Metric metric, String pattern) {
    return Agent.find() ? Natives.method(null, metric.id(), pattern) : MethodStats.NONE;
  }

  /** The same of one thread, which has not ended. */
  public static MethodStats method(Thread thread, String pattern) {
    return method(thread, Metric.CALLS, pattern);
  }

  /** The same of one thread, which has not ended. */
  public static MethodStats method(Thread thread, Metric metric, String pattern) {
    return Agent.find()
        ? Natives.method(Objects.requireNonNull(thread), metric.id(), pattern)
        : MethodStats.NONE;
  }

  /**
   * Whether a pattern names any method with probes: empty if it does, or without the agent; else
   * the name nearest to it that a method with probes has, {@code ""} if there are none. Methods of
   * classes that are not loaded yet have no probes.
   */
  public static Optional<String> nearestMethod(String pattern) {
    return Agent.find() ? Optional.ofNullable(Natives.nearestMethod(pattern)) : Optional.empty();
  }

  /** Counts from here on: call paths and methods, and the totals of {@code metrics}. */
  public static Window window(Scope scope, Metric... metrics) {
    return new Window(scope, metrics);
  }

  /** One of the program's counters, reported as {@code user.NAME}; the same for the same name. */
  public static Counter counter(String name) {
    return counter(name, "");
  }

  /** The same with a unit, {@code B} or {@code ns}. */
  public static Counter counter(String name, String unit) {
    return new Counter(name, unit);
  }

  /**
   * Labels the calling thread until the label is closed: its samples carry {@code key=value}. Use
   * it for what has few values, such as kinds of requests or tenants:
   *
   * <pre>try (Label label = JTrace.label("tenant", "acme")) { handle(request); }</pre>
   *
   * Labels inside of one another add up; the same key is replaced, and left out where its value is
   * empty. Values longer than 256 bytes are cut; beyond 10,000 different sets of labels, or 16
   * labels at a time, samples carry none, and the trace counts them. Labels that are open when the
   * agent is attached are not known to it.
   *
   * @throws IllegalArgumentException if the key has other characters than letters, digits, '.', '_'
   *     and '-', or more than 64
   */
  public static Label label(String key, String value) {
    return Label.open(key, value);
  }

  /**
   * Begins a named segment of code in the calling thread, which ends when it is closed: the recording
   * counts and times it, and has a pair of records of it, with thread and times, but of at most 1,000
   * a second:
   *
   * <pre>try (Segment segment = JTrace.segment("checkout")) { checkOut(cart); }</pre>
   *
   * Segments inside of one another nest. Names longer than 256 bytes are cut; beyond 1,000 different
   * names all are counted as {@code [other]}. The report {@code segments} has the numbers.
   *
   * @throws IllegalArgumentException if the name is empty
   */
  public static Segment segment(String name) {
    return Segment.open(name);
  }

  /** Begins a recording with the agent's options: {@code "out=trace.bin,include=com.acme.**"}. */
  public static void start(String options) {
    command("start", options);
  }

  /** Ends the recording; then the trace is complete. */
  public static void stop() {
    command("stop", "");
  }

  /**
   * Writes everything recorded so far to the file whose path this returns; empty without the agent.
   * With {@code loop=} that file is ended and the recording continues in the next one.
   */
  public static Optional<Path> dump() {
    return Agent.find() ? Optional.of(Path.of(command("dump", "").strip())) : Optional.empty();
  }

  /** The same, with a copy at {@code to}; replaces an existing file. */
  public static void dump(Path to) {
    dump().ifPresent(
        trace -> {
          try {
            Files.copy(trace, to, StandardCopyOption.REPLACE_EXISTING);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** A labelled mark in the trace. */
  public static void mark(String label) {
    command("mark", label);
  }

  /**
   * Puts hooks into native functions, or removes them: {@code "libc.so.6!malloc:count"}; several
   * are separated by {@code ;}. Returns a description of what was done; empty without the agent.
   */
  public static String hook(String functions) {
    return command("hook", functions);
  }

  /** The output of {@code jtrace status}; empty without the agent. */
  public static String status() {
    return command("status", "");
  }

  /** Offers the same calls to management clients: {@link JTraceMXBean}. */
  public static void registerMBean() {
    Bean.register();
  }

  private static String command(String verb, String argument) {
    return Agent.find() ? Natives.command(verb, argument) : "";
  }
}
