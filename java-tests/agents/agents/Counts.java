package agents;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.ObjLongConsumer;

/** How often each method was entered. */
public final class Counts {
  private static final int MOST = 1 << 17;
  private static final AtomicLongArray counts = new AtomicLongArray(MOST);
  private static final Map<String, Integer> ids = new HashMap<>();
  private static final List<String> names = new ArrayList<>();

  private Counts() {}

  public static void count(int id) {
    counts.getAndIncrement(id);
  }

  static synchronized int idOf(String name) {
    return ids.computeIfAbsent(
        name,
        unseen -> {
          names.add(unseen);
          return names.size() - 1;
        });
  }

  static synchronized String nameOf(int id) {
    return names.get(id);
  }

  static synchronized void forEach(ObjLongConsumer<String> visit) {
    for (int i = 0; i < names.size(); i++) visit.accept(names.get(i), counts.get(i));
  }
}
