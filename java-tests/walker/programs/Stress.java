import java.util.ArrayDeque;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Everything at once that changes under a stack walker: up to 200 threads that start and end,
 * classes that are loaded and unloaded, deoptimisation, exceptions, collections, and a library that
 * is opened, called and closed. Arguments: the agent's library, the library to open, seconds.
 */
public class Stress {
  private static final int MAX_THREADS = 200;
  public static final AtomicLong SINK = new AtomicLong();

  /** Opens the library, spends some microseconds in it, closes it. */
  static native void callOnce(String library);

  public interface Shape {
    long grow(long x);
  }

  /** Speculates on the shapes seen so far; each new class of them deoptimises it. */
  public static long speculate(Shape shape, int rounds) {
    long x = 1;
    for (int i = 0; i < rounds; i++) x = shape.grow(x);
    return x;
  }

  /** Loaded again by ever new loaders, so that it is a new class each time. */
  public static class Fresh implements Shape, Runnable {
    @Override
    public long grow(long x) {
      return x * 31 + 7;
    }

    @Override
    public void run() {
      SINK.addAndGet(speculate(this, 20_000));
    }
  }

  private static void throwAtDepth(int depth) {
    if (depth > 0) {
      throwAtDepth(depth - 1);
    } else if (ThreadLocalRandom.current().nextBoolean()) {
      throw new IllegalStateException("thrown");
    } else {
      Object nothing = SINK.get() == -1 ? "" : null;
      nothing.hashCode(); // a fault that the JVM turns into an exception
    }
  }

  private static void exceptions() {
    for (int i = 0; i < 300; i++) {
      try {
        throwAtDepth(i % 40);
      } catch (IllegalStateException | NullPointerException e) {
        SINK.addAndGet(e.getStackTrace().length);
      }
    }
  }

  private static void overflow() {
    try {
      endless(0);
    } catch (StackOverflowError e) {
      SINK.incrementAndGet();
    }
  }

  private static int endless(int x) {
    return endless(x + 1) + x;
  }

  private static void classes() throws ReflectiveOperationException {
    Class<?> type = new FreshLoader("Stress$Fresh").loadClass("Stress$Fresh");
    ((Runnable) type.getDeclaredConstructor().newInstance()).run();
    SINK.addAndGet(speculate(x -> x ^ 5, 5_000));
  }

  /** A short life: one kind of trouble, then the end. */
  private static void live(int kind, String library) {
    try {
      switch (kind) {
        case 0, 1 -> exceptions();
        case 2 -> overflow();
        case 3 -> callOnce(library);
        case 4 -> Thread.sleep(1 + kind);
        default -> classes();
      }
    } catch (ReflectiveOperationException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    System.load(args[0]);
    String library = args[1];
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          error.printStackTrace();
          Runtime.getRuntime().halt(4); // the program, not the walker, is wrong
        });
    long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000L;
    ArrayDeque<Thread> threads = new ArrayDeque<>();
    long started = 0;
    while (System.nanoTime() < end) {
      int kind = (int) (started % 7);
      Thread thread = new Thread(() -> live(kind, library), "worker " + started++);
      thread.start();
      threads.add(thread);
      if (threads.size() >= MAX_THREADS) threads.remove().join();
      if (started % 500 == 0) System.gc();
      for (int i = 0; i < 5; i++) callOnce(library);
    }
    for (Thread thread : threads) thread.join();
    System.out.println("Stress done, " + started + " threads");
  }
}
