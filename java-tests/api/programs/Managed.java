package programs;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.TabularData;
import jtrace.api.JTrace;

/** Queries as jconsole does, by names and open types. Prints "name=value". */
public final class Managed {
  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
  private static ObjectName bean;

  private Managed() {}

  public static void main(String[] args) throws Exception {
    JTrace.registerMBean();
    JTrace.registerMBean();
    bean = new ObjectName("jtrace:type=JTrace");
    print("active", SERVER.getAttribute(bean, "Active"));
    TabularData metrics = (TabularData) SERVER.getAttribute(bean, "Metrics");
    print("alloc.bytes", metrics.get(new Object[] {"alloc.bytes"}).get("value"));
    Metrics.arrays(7, 1000);
    TabularData method =
        (TabularData) invoke("method", "alloc.bytes", "programs.Metrics::arrays");
    for (String item : new String[] {"calls", "outermostCalls", "base", "cum"}) {
      print(item, method.get(new Object[] {item}).get("value"));
    }
    print("process", (long) invoke("processTotal", "alloc.bytes") > 7 * 1016);
    long id = Thread.currentThread().getId();
    print(
        "thread",
        (long)
                SERVER.invoke(
                    bean,
                    "threadTotal",
                    new Object[] {id, "alloc.bytes"},
                    new String[] {"long", "java.lang.String"})
            > 7 * 1016);
    invoke("mark", "managed");
    print("status", ((String) invoke("status")).startsWith("state "));
    print("dump", invoke("dump"));
    invoke("stop");
  }

  private static Object invoke(String operation, String... arguments) throws Exception {
    String[] types = new String[arguments.length];
    java.util.Arrays.fill(types, "java.lang.String");
    return SERVER.invoke(bean, operation, arguments, types);
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
