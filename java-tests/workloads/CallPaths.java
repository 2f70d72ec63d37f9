import java.util.Map;
import java.util.TreeMap;

/** A call path with its count, kept by the program itself. Out of the tests' scope. */
final class CallPaths {
  private final TreeMap<String, CallPaths> children = new TreeMap<>();
  private long calls;

  /** The path that `method` has below this one; it was called once more. */
  CallPaths call(String method) {
    CallPaths child = children.get(method);
    if (child == null) {
      child = new CallPaths();
      children.put(method, child);
    }
    child.calls++;
    return child;
  }

  /** Lines `PATH thread calls method method …`. */
  void print(String thread, String path) {
    for (Map.Entry<String, CallPaths> entry : children.entrySet()) {
      String child = path + " " + entry.getKey();
      System.out.println("PATH " + thread + " " + entry.getValue().calls + child);
      entry.getValue().print(thread, child);
    }
  }
}
