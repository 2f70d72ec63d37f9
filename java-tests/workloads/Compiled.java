import java.util.function.IntSupplier;

/** Methods of many shapes, all of which HotSpot's compilers compile: those with handlers above all. */
public final class Compiled {
  private static int n;
  private final int value;

  private Compiled(int value) {
    int checked;
    try {
      checked = Integer.parseInt("" + value);
    } catch (NumberFormatException e) {
      checked = -1;
    }
    this.value = checked;
  }

  private static int inMonitor(Object o, int i) {
    synchronized (o) {
      return n + i;
    }
  }

  private static int inMonitors(Object o, int[] a, int i) {
    synchronized (o) {
      synchronized (a) {
        return a[i];
      }
    }
  }

  private static synchronized int held(int i) {
    return n + i;
  }

  private static int caughtAndFinally(int i) {
    try {
      if (i < 0) throw new IllegalArgumentException();
      return i;
    } catch (IllegalArgumentException e) {
      return 1;
    } finally {
      n++;
    }
  }

  private static int handlerInLoop(int i) {
    for (int k = 0; k < 3; k++) {
      try {
        n += i / (i & 1);
      } catch (ArithmeticException e) {
        n++;
      }
    }
    return n;
  }

  private static int nested(int[] a, int i) {
    try {
      try {
        return a[i];
      } finally {
        n += a.length;
      }
    } catch (ArrayIndexOutOfBoundsException e) {
      while (n > 0) n -= 1000;
      return e.getMessage().length();
    }
  }

  private static int resources(int i) throws Exception {
    try (AutoCloseable one = () -> n++;
        AutoCloseable two = () -> n += i) {
      return one == two ? 0 : i;
    }
  }

  private static int switches(String s, int i) {
    switch (s) {
      case "a":
        return i;
      case "b":
        try {
          return 10 / i;
        } catch (ArithmeticException e) {
          break;
        }
      default:
        return s.length();
    }
    return -1;
  }

  private int get() {
    return value;
  }

  private static int round(int i) throws Exception {
    int[] array = {1, 2, 3};
    IntSupplier lambda = () -> array[i & 1] + n;
    int sum = inMonitor(array, i) + inMonitors("", array, i & 1) + held(i);
    sum += caughtAndFinally(i) + caughtAndFinally(-i) + handlerInLoop(i);
    sum += nested(array, i & 3) + resources(i) + switches("abc".substring(i & 1, 1 + (i & 1)), i & 2);
    return sum + new Compiled(i).get() + lambda.getAsInt();
  }

  public static void main(String[] args) throws Exception {
    int sum = 0;
    for (int i = Integer.parseInt(args[0]); i > 0; i--) sum += round(i);
    System.out.println("sum " + sum);
  }
}
