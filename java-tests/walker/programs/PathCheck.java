import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * Publishes its own call path while it recurses at random through four Java methods and through
 * native code; the test agent compares it with the sampled chains. Arguments: the library, seconds,
 * and how much work a call does (default 40 steps of a few instructions).
 */
public class PathCheck {
  static final ByteBuffer PATH = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
  static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(8);
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  static final SplittableRandom RANDOM = new SplittableRandom(42);
  static long sink;
  static int steps = 40;

  /** In program order, so that the compiler neither moves nor merges the stores. */
  private static void publish(long path) {
    LONG.setVolatile(PATH, 0, path);
  }

  static native void register(ByteBuffer path, long javaThread);

  static native void throughSort(long path, int depth);

  static void a(long path, int depth) {
    path = path << 2;
    publish(path);
    next(path, depth);
    publish(path);
    work(depth);
  }

  static void b(long path, int depth) {
    path = path << 2 | 1;
    publish(path);
    work(depth);
    next(path, depth);
    publish(path);
  }

  static void c(long path, int depth) {
    path = path << 2 | 2;
    publish(path);
    try {
      next(path, depth);
      publish(path);
      if (RANDOM.nextInt(64) == 0) throw new IllegalStateException();
    } catch (IllegalStateException e) {
      publish(path);
      sink += e.hashCode();
    }
  }

  static void d(long path, int depth) {
    path = path << 2 | 3;
    publish(path);
    work(depth);
    if (depth > 0) throughSort(path, depth - 1);
    publish(path);
  }

  private static void next(long path, int depth) {
    if (depth <= 0) return;
    // Two shapes of dispatch, so that both static and interface calls occur.
    switch (RANDOM.nextInt(8)) {
      case 0, 1 -> a(path, depth - 1);
      case 2, 3 -> b(path, depth - 1);
      case 4, 5 -> c(path, depth - 1);
      case 6 -> d(path, depth - 1);
      default -> HOPS[RANDOM.nextInt(HOPS.length)].go(path, depth - 1);
    }
  }

  interface Hop {
    void go(long path, int depth);
  }

  static final Hop[] HOPS = {PathCheck::a, PathCheck::b, PathCheck::c, (p, n) -> b(p, n)};

  static void fromNative(long path, int depth) {
    next(path, depth);
    publish(path); // the native code continues for a while
  }

  static int compare(int x, int y) {
    sink += x ^ y;
    return Integer.compare(x, y);
  }

  private static void work(int depth) {
    long x = sink;
    for (int i = 0; i < steps + depth; i++) x = x * 31 + i;
    if ((x & 255) == 0) x += Long.toString(x).hashCode();
    sink = x;
  }

  public static void main(String[] args) {
    System.load(args[0]);
    long thread = Thread.currentThread().getId();
    // The time for linking and compiling the calls is between entry and publication: nothing is
    // published where it would be checked.
    register(NOTHING, thread);
    rounds(1);
    if (args.length > 2) steps = Integer.parseInt(args[2]);
    publish(0);
    register(PATH, thread);
    rounds(Long.parseLong(args[1]));
    publish(0);
    System.out.println("PathCheck done");
  }

  private static void rounds(long seconds) {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 50; i++) {
        publish(0); // not checked between the rounds
        next(1, 28);
      }
    }
  }
}
