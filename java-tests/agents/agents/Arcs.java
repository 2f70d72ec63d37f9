package agents;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ObjLongConsumer;

/** Counts how often each method called each other, with a stack of each thread's open calls. */
public final class Arcs {
  private static final int NO_CALLER = (1 << 17) - 1;

  private static final class Stack {
    int[] methods = new int[64];
    int depth;
  }

  private static final ThreadLocal<Stack> stacks = ThreadLocal.withInitial(Stack::new);
  private static final Map<Long, AtomicLong> counts = new ConcurrentHashMap<>();

  private Arcs() {}

  /** Returns the argument for the method's other probes. */
  public static int enter(int id) {
    Stack stack = stacks.get();
    int depth = stack.depth;
    if (depth == stack.methods.length) stack.methods = Arrays.copyOf(stack.methods, 2 * depth);
    int caller = depth == 0 ? NO_CALLER : stack.methods[depth - 1];
    stack.methods[depth] = id;
    stack.depth = depth + 1;
    counts.computeIfAbsent((long) caller << 32 | id, unseen -> new AtomicLong()).incrementAndGet();
    return depth;
  }

  public static void exit(int depth) {
    stacks.get().depth = depth;
  }

  /** The method has caught an exception: its callees have ended. */
  public static void resume(int depth) {
    stacks.get().depth = depth + 1;
  }

  /** "CALLER CALLEE"; a thread's first call has the caller "-". */
  static void forEach(ObjLongConsumer<String> visit) {
    counts.forEach(
        (arc, calls) -> {
          int caller = (int) (arc >> 32);
          String from = caller == NO_CALLER ? "-" : Counts.nameOf(caller);
          visit.accept(from + " " + Counts.nameOf((int) (long) arc), calls.get());
        });
  }
}
