import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.IMCThread;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** Reads a recording as JDK Mission Control does: a line for each kind of event, thread and topmost method. */
public final class ReadRecording {
  private static String topOf(IMCStackTrace stack) {
    if (stack == null || stack.getFrames().isEmpty()) return "";
    IMCFrame frame = stack.getFrames().get(0);
    if (frame.getMethod() == null) return "";
    return frame.getMethod().getType().getFullName() + "." + frame.getMethod().getMethodName();
  }

  public static void main(String[] args) throws Exception {
    Map<String, Long> counts = new TreeMap<>();
    for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(args[0]))) {
      String type = items.getType().getIdentifier();
      if (!type.endsWith("MethodSample") && !type.endsWith("ExecutionSample")) continue;
      var thread = JfrAttributes.EVENT_THREAD.getAccessor(items.getType());
      var stack = JfrAttributes.EVENT_STACKTRACE.getAccessor(items.getType());
      for (IItem item : items) {
        IMCThread of = thread.getMember(item);
        IMCStackTrace trace = stack.getMember(item);
        counts.merge(type + "\t" + (of == null ? "" : of.getThreadName()) + "\t" + topOf(trace), 1L, Long::sum);
      }
    }
    counts.forEach((key, count) -> System.out.println(count + "\t" + key));
  }
}
