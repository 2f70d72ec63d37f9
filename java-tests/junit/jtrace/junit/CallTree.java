package jtrace.junit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Exact calls by thread and path, from a trace's call tree. */
final class CallTree {
  private CallTree() {}

  /** `thread: A.f() > A.g()` to calls; without nodes that were never entered. */
  static Map<String, Long> of(Jvm.Result run) {
    return of(run.report("--report=tree"));
  }

  /** From the rows of --report=tree. */
  static Map<String, Long> of(Report tree) {
    Map<String, Long> calls = new TreeMap<>();
    List<String> path = new ArrayList<>();
    for (Map<String, String> row : tree.rows()) {
      int level = Integer.parseInt(row.get("level"));
      while (path.size() > level) path.remove(path.size() - 1);
      path.add(row.get("name"));
      long count = Long.parseLong(row.get("calls"));
      if (level == 0 || count == 0) continue;
      String key = path.get(0) + ": " + String.join(" > ", path.subList(1, path.size()));
      calls.merge(key, count, Long::sum);
    }
    return calls;
  }

  static long sum(Map<String, Long> tree) {
    return tree.values().stream().mapToLong(Long::longValue).sum();
  }
}
