import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Everything that can happen to the flow of a method, for counts of lines: exceptions in the middle
 * of blocks, finally, switches, constructors whose arguments throw, and activations that are still
 * open when the program exits.
 */
public final class LineCases {
  static int sink;

  /** The argument of super(…) throws for some values. */
  static class Base {
    Base(int value) {
      if (value % 7 == 3) throw new IllegalArgumentException("base");
      sink += value;
    }
  }

  static final class Derived extends Base {
    private final int[] values;

    Derived(int value) {
      super(checked(value));
      values = new int[value % 5];
      values[value % 3] = value;
    }

    Derived(String text) {
      this(text.isEmpty() ? 1 : Integer.parseInt(text));
    }
  }

  static int checked(int value) {
    if (value % 11 == 5) throw new IllegalStateException("argument");
    return value + 1;
  }

  static int element(int[] values, int i) {
    int before = sink; sink += values[i]; int after = sink;
    return after - before;
  }

  static int tries(int i) {
    int result = 0;
    try {
      result += element(new int[] {1, 2, 3}, i % 5);
      try {
        result += 12 / (i % 4);
        result++;
      } catch (ArithmeticException e) {
        result -= 2;
        if (i % 8 == 0) throw new IllegalStateException(e);
      } finally {
        result += 100;
      }
    } catch (ArrayIndexOutOfBoundsException e) {
      result = -1;
    }
    return result;
  }

  static synchronized int locked(Object lock, int i) {
    synchronized (lock) {
      if (i % 6 == 1) throw new UnsupportedOperationException();
      return i;
    }
  }

  @SuppressWarnings("fallthrough")
  static String switches(int i, String text) {
    switch (i % 6) {
      case 0:
      case 1:
        sink++;
      case 2:
        return "low";
      case 4:
        break;
      default:
        sink--;
    }
    switch (text) {
      case "one": return "1";
      case "two": return "2";
      default: return i % 2 == 0 && sink > 0 || i > 50 ? "even" : null;
    }
  }

  static long loops(int n) {
    long sum = 0;
    outer:
    for (int i = 0; i < n; i++) {
      int j = i;
      do {
        if ((j & 3) == 2) continue outer;
        sum += j;
      } while (--j > 0);
      while (true) {
        if (++j > 4) break;
        sum ^= j;
      }
    }
    return sum;
  }

  static int recursion(int depth) {
    if (depth == 0) throw new IllegalStateException("bottom");
    try {
      return recursion(depth - 1) + 1;
    } finally {
      sink++;
    }
  }

  static void once(int i) {
    try {
      sink += tries(i);
    } catch (IllegalStateException e) {
      sink++;
    }
    try {
      locked(LineCases.class, i);
      new Derived(i);
      new Derived(String.valueOf(i % 3 == 0 ? "x" : i));
    } catch (RuntimeException e) {
      sink += e instanceof NumberFormatException ? 2 : 1;
    }
    sink += String.valueOf(switches(i, i % 3 == 0 ? "one" : i % 3 == 1 ? "two" : "three")).length();
    sink += (int) loops(i % 10);
    try {
      recursion(i % 20);
    } catch (IllegalStateException e) {
      sink--;
    }
    IntUnaryOperator twice = x -> x % 9 == 0 ? x / (x % 2) : 2 * x;
    try {
      sink += twice.applyAsInt(i);
    } catch (ArithmeticException e) {
      sink = 0;
    }
  }

  /** Many threads in one method; none changes what another does. */
  static long alone(int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) {
      if (i % 3 == 0) sum += i; else sum ^= i;
      try {
        sum += 10 / (i % 5);
      } catch (ArithmeticException e) {
        sum--;
      }
    }
    return sum;
  }

  static void waits(Object forever) {
    synchronized (forever) {
      try {
        forever.wait();
        sink++;
      } catch (InterruptedException e) {
        sink--;
      }
    }
  }

  static void exits(int depth) {
    if (depth > 0) {
      exits(depth - 1);
    } else {
      System.exit(0);
    }
    sink++;
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 300; i++) once(i);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int n = 1000 * i;
      threads.add(new Thread(() -> alone(n)));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    Object forever = new Object();
    for (int i = 0; i < 3; i++) {
      Thread thread = new Thread(() -> waits(forever));
      thread.setDaemon(true);
      thread.start();
      while (thread.getState() != Thread.State.WAITING) Thread.sleep(1);
    }
    System.out.println(sink);
    exits(4);
  }
}
