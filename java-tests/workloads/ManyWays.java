import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Comparator;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Calls methods, and leaves them, in all the ways that Java has: "ManyWays ROUNDS". The calls on
 * pools differ from run to run.
 */
public final class ManyWays {
  private static int sum;

  private static void count(int x) {
    sum += same(x);
  }

  private static int same(int x) {
    return x;
  }

  // ---- Recursion ---------------------------------------------------------------------------------

  private static int down(int depth) {
    return depth == 0 ? same(0) : 1 + down(depth - 1);
  }

  private static boolean isEven(int x) {
    return x == 0 || isOdd(x - 1);
  }

  private static boolean isOdd(int x) {
    return x != 0 && isEven(x - 1);
  }

  // ---- Exceptions --------------------------------------------------------------------------------

  private static final class Stop extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private static int stop() {
    throw new Stop();
  }

  private static void throughFinally(int depth) {
    try {
      if (depth == 0) stop();
      throughFinally(depth - 1);
    } finally {
      count(depth);
    }
  }

  private static int innerCatch(int x) {
    int caught = 0;
    for (int i = 0; i < 4; i++) {
      try {
        try {
          count(i % 2 == 0 ? stop() : x);
        } catch (IllegalStateException e) {
          count(100); // not this one
        } finally {
          same(i);
        }
      } catch (Stop e) {
        caught += same(1);
        continue;
      }
      count(i);
    }
    return caught;
  }

  private static final class Resource implements AutoCloseable {
    private final boolean fails;

    Resource(boolean fails) {
      this.fails = fails;
      count(1);
    }

    @Override
    public void close() {
      count(2);
      if (fails) stop();
    }
  }

  private static void resources() {
    for (int i = 0; i < 4; i++) {
      try (Resource outer = new Resource(i % 2 == 0);
          Resource inner = new Resource(i % 3 == 0)) {
        count(outer == inner ? 1 : 2);
      } catch (Stop e) {
        count(e.getSuppressed().length);
      }
    }
  }

  // ---- Constructors, initializers ----------------------------------------------------------------

  private static class Base {
    Base(int x) {
      count(x);
      prepare(x);
    }

    void prepare(int x) {
      same(x);
    }
  }

  private static final class Derived extends Base {
    private final int[] values = {same(1), same(2)};

    /** Throws before, in or after the other constructor. */
    Derived(int x) {
      super(x % 5 == 0 ? stop() : same(x));
      if (x % 5 == 1) stop();
      count(values[0]);
    }

    @Override
    void prepare(int x) {
      if (x % 5 == 2) stop();
    }
  }

  private static void construct() {
    for (int x = 0; x < 10; x++) {
      try {
        new Derived(x).prepare(3);
      } catch (Stop e) {
        count(x);
      }
    }
  }

  private static final class Broken {
    static final int VALUE = stop();
  }

  private static void initialize() {
    try {
      count(Broken.VALUE);
    } catch (ExceptionInInitializerError | NoClassDefFoundError e) {
      same(1);
    }
  }

  // ---- Dispatch ----------------------------------------------------------------------------------

  private interface Shape {
    int area();

    default int twice() {
      return area() + same(area());
    }
  }

  private record Square(int side) implements Shape {
    private Square {
      count(side);
    }

    @Override
    public int area() {
      return same(side()) * side;
    }
  }

  private enum Way implements IntBinaryOperator {
    PLUS {
      @Override
      public int applyAsInt(int a, int b) {
        return same(a) + b;
      }
    },
    TIMES {
      @Override
      public int applyAsInt(int a, int b) {
        return a * same(b);
      }
    }
  }

  public static int reflected(int x) {
    return same(x);
  }

  private static void dispatch() throws Throwable {
    count(new Square(3).twice());
    for (Way way : Way.values()) count(way.applyAsInt(2, 3));
    IntUnaryOperator twice = ManyWays::same;
    count(twice.andThen(x -> same(x) + 1).compose(ManyWays::same).applyAsInt(4));
    Method method = ManyWays.class.getMethod("reflected", int.class);
    for (int i = 0; i < 20; i++) count((int) method.invoke(null, i));
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    MethodType stopping = MethodType.methodType(int.class);
    MethodHandle caught =
        MethodHandles.catchException(
            lookup.findStatic(ManyWays.class, "stop", stopping), Stop.class,
            MethodHandles.dropArguments(MethodHandles.constant(int.class, 3), 0, Stop.class));
    count((int) caught.invokeExact());
    try {
      ManyWays.class.getDeclaredMethod("stop").invoke(null);
    } catch (InvocationTargetException e) {
      count(1);
    }
    IntBinaryOperator proxy =
        (IntBinaryOperator)
            Proxy.newProxyInstance(
                ManyWays.class.getClassLoader(), new Class<?>[] {IntBinaryOperator.class},
                (object, called, values) -> same((int) values[0]) + (int) values[1]);
    count(proxy.applyAsInt(1, 2));
  }

  // ---- Streams, pools, threads ---------------------------------------------------------------------

  private static Iterable<Integer> upTo(int end) {
    return () ->
        new Iterator<>() {
          private int next;

          @Override
          public boolean hasNext() {
            return next < end;
          }

          @Override
          public Integer next() {
            return same(next++);
          }
        };
  }

  private static void streams() {
    for (int x : upTo(5)) count(x);
    count(
        IntStream.range(0, 30)
            .map(ManyWays::same)
            .filter(x -> same(x) % 2 == 0)
            .mapToObj(Square::new)
            .sorted(Comparator.comparing(Square::side).reversed())
            .mapToInt(Square::area)
            .sum());
    IntStream.range(0, 100).parallel().map(ManyWays::same).sum();
  }

  private static final class Fib extends RecursiveTask<Integer> {
    private static final long serialVersionUID = 1;
    private final int n;

    Fib(int n) {
      this.n = n;
    }

    @Override
    protected Integer compute() {
      if (n < 2) return same(n);
      Fib other = new Fib(n - 1);
      other.fork();
      return new Fib(n - 2).compute() + other.join();
    }
  }

  private static void pools() throws Exception {
    ForkJoinPool.commonPool().invoke(new Fib(7));
    count(
        CompletableFuture.supplyAsync(() -> same(1))
            .thenApply(x -> x + stop())
            .exceptionally(e -> same(2))
            .thenCombine(CompletableFuture.supplyAsync(() -> same(3)), (a, b) -> same(a + b))
            .get());
  }

  private static final Object LOCK = new Object();
  private static int turn;

  private static void inTurn(int me, int rounds) {
    for (int i = 0; i < rounds; i++) {
      synchronized (LOCK) {
        while (turn != me) {
          try {
            LOCK.wait();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        }
        same(me);
        turn = 1 - me;
        LOCK.notifyAll();
      }
    }
  }

  private static void threads() throws InterruptedException {
    Thread[] threads = {
      new Thread(() -> inTurn(0, 50)), new Thread(() -> inTurn(1, 50)), new Thread(ManyWays::stop)
    };
    threads[2].setUncaughtExceptionHandler((thread, e) -> same(8));
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }

  public static void main(String[] arguments) throws Throwable {
    for (int round = Integer.parseInt(arguments[0]); round > 0; round--) {
      count(down(200));
      same(isEven(100) ? 1 : 0);
      try {
        throughFinally(20);
      } catch (Stop e) {
        count(1);
      }
      count(innerCatch(round));
      resources();
      construct();
      initialize();
      dispatch();
      streams();
      pools();
    }
    threads();
  }
}
