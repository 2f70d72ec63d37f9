package jtrace.api;

import java.util.Map;

/**
 * The calls of {@link JTrace} by names, for jconsole and the like; registered as {@code
 * jtrace:type=JTrace} by {@link JTrace#registerMBean}.
 */
public interface JTraceMXBean {
  /** Whether the agent is in this JVM. */
  boolean isActive();

  /** What is counted now, and by name its unit, how exact it is and what it costs. */
  Map<String, String> getMetrics();

  /** Of all threads, ended ones included. */
  long processTotal(String metric);

  /** Of a platform thread that runs. */
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
