package jtrace.api;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.ObjectName;

/** Answers management clients. */
final class Bean implements JTraceMXBean {
  private static final String NAME = "jtrace:type=JTrace";

  /** Does nothing if it is already registered. */
  static void register() {
    try {
      ManagementFactory.getPlatformMBeanServer().registerMBean(new Bean(), new ObjectName(NAME));
    } catch (InstanceAlreadyExistsException e) {
      // All instances are the same.
    } catch (JMException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean isActive() {
    return JTrace.isActive();
  }

  @Override
  public Map<String, String> getMetrics() {
    Map<String, String> all = new LinkedHashMap<>();
    for (Metric metric : JTrace.metrics()) {
      String unit = metric.unit().isEmpty() ? "" : metric.unit() + "; ";
      all.put(
          metric.name(),
          metric.meaning() + "; " + unit + metric.exactness() + "; cost: " + metric.cost());
    }
    return all;
  }

  @Override
  public long processTotal(String metric) {
    return JTrace.processTotal(Metric.named(metric));
  }

  @Override
  public long threadTotal(long threadId, String metric) {
    return JTrace.total(Threads.find(threadId), Metric.named(metric));
  }

  @Override
  public Map<String, Long> method(String metric, String pattern) {
    MethodStats stats = JTrace.method(Metric.named(metric), pattern);
    Map<String, Long> values = new LinkedHashMap<>();
    values.put("calls", stats.calls());
    values.put("outermostCalls", stats.outermostCalls());
    values.put("base", stats.base());
    values.put("cum", stats.cum());
    return values;
  }

  @Override
  public void start(String options) {
    JTrace.start(options);
  }

  @Override
  public void stop() {
    JTrace.stop();
  }

  @Override
  public String dump() {
    return JTrace.dump().map(Path::toString).orElse("");
  }

  @Override
  public void mark(String label) {
    JTrace.mark(label);
  }

  @Override
  public String status() {
    return JTrace.status();
  }
}
