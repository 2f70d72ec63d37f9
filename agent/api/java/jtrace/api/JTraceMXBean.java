package jtrace.api;

import java.util.Map;

/**
 * The calls of {@link JTrace} by name, for jconsole and similar tools; registered as {@code
 * jtrace:type=JTrace} by {@link JTrace#registerMBean}.
 */
public interface JTraceMXBean {
  /** Whether the agent is in this JVM. */
  boolean isActive();

  /** The metrics that are counted now: by name the unit, exactness and cost. */
  Map<String, String> getMetrics();

  /** Of all threads, including ended ones. */
  long processTotal(String metric);

  /** Of a running platform thread. */
  long threadTotal(long threadId, String metric);

  /** Since the recording began: calls, outermostCalls, base, cum. See {@link JTrace#method}. */
  Map<String, Long> method(String metric, String pattern);

  void start(String options);

  void stop();

  /** Returns the path of the trace; empty without the agent. */
  String dump();

  void mark(String label);

  String status();
}
