import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Programs with something that costs them most of their time, and their counterparts without it. How
 * long they run depends on the machine, what takes most of the time does not.
 */
public final class Findings {
  private static final int GETS = 100;
  private static final int ITEMS = 2000;
  private static int result;

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "patterns" -> Shop.run(true);
      case "one-pattern" -> Shop.run(false);
      case "exceptions" -> Parser.run(true);
      case "no-exceptions" -> Parser.run(false);
      case "monitor" -> Stock.run(new Object(), null);
      case "monitors" -> Stock.run(new Object(), new Object());
      case "boxes" -> Boxes.run();
      case "numbers" -> Numbers.run();
      case "classes" -> Classes.run(2500);
      case "few-classes" -> Classes.run(2);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.out.println("done " + (result == 0 ? 0 : 1));
  }

  /** Some ten milliseconds of work without calls of others. */
  private static int compute(int seed) {
    int x = seed | 1;
    for (int i = 0; i < 3_000_000; i++) x = x * 31 + (x >>> 7);
    return x;
  }

  private static final class Shop {
    private static final String TEXT = "(a|b|c|d)[e-g]{2,5}(h|i|j)*\\s+(\\d{1,3}|[k-p]+)q?(?:r|s)t";
    private static final Pattern PATTERN = Pattern.compile(TEXT);

    static void run(boolean anew) {
      for (int i = 0; i < GETS; i++) doGet(anew);
    }

    static void doGet(boolean anew) {
      for (int i = 0; i < ITEMS; i++) {
        if (anew ? matches("x") : matchesOne("x")) result++;
      }
      if (!anew) result += compute(result);
    }

    static boolean matches(String item) {
      return item.matches(TEXT);
    }

    static boolean matchesOne(String item) {
      return PATTERN.matcher(item).matches();
    }
  }

  private static final class Parser {
    static void run(boolean throwing) {
      for (int i = 0; i < 100_000; i++) result += deeper(60, throwing, i);
      if (!throwing) for (int i = 0; i < GETS; i++) result += compute(i);
    }

    /** The stack trace has a frame for each level. */
    static int deeper(int levels, boolean throwing, int number) {
      if (levels > 0) return deeper(levels - 1, throwing, number);
      if (!throwing) return number;
      try {
        return parse("x");
      } catch (IllegalStateException e) {
        return 1;
      }
    }

    static int parse(String text) {
      if (text.startsWith("x")) throw new IllegalStateException(text);
      return 2;
    }
  }

  private static final class Stock {
    private static final int ROUNDS = 15;

    /** With one lock the second thread waits in each round, with two it never does. */
    static void run(Object lock, Object other) throws InterruptedException {
      for (int i = 0; i < ROUNDS; i++) {
        synchronized (lock) {
          Thread taker = new Thread(() -> take(other == null ? lock : other), "taker");
          taker.start();
          while (other == null && taker.getState() != Thread.State.BLOCKED) Thread.sleep(1);
          Thread.sleep(40);
          if (other != null) taker.join();
        }
      }
    }

    static void take(Object lock) {
      synchronized (lock) {
        result++;
      }
    }
  }

  private static final class Boxes {
    static void run() {
      List<Integer> values = new ArrayList<>();
      for (int i = 0; i < 2000; i++) {
        values.clear();
        add(values);
      }
      result += values.size();
    }

    static void add(List<Integer> values) {
      for (int i = 0; i < 1000; i++) values.add(i);
    }
  }

  private static final class Numbers {
    static void run() {
      int[] values = new int[1000];
      for (int i = 0; i < 2000; i++) add(values);
      result += values[1];
    }

    static void add(int[] values) {
      for (int i = 0; i < 1000; i++) set(values, i);
    }

    static void set(int[] values, int i) {
      values[i] += i;
    }
  }

  private static final class Classes {
    static void run(int copies) throws Exception {
      byte[] bytes = bytesOf(Parser.class);
      for (int i = 0; i < copies; i++) {
        // Defined and linked, without running its code.
        Class.forName(Parser.class.getName(), true, new OwnLoader(bytes));
      }
      if (copies < 10) for (int i = 0; i < GETS; i++) result += compute(i);
    }

    private static byte[] bytesOf(Class<?> type) throws IOException {
      String file = type.getName() + ".class";
      try (InputStream in = Findings.class.getResourceAsStream(file)) {
        return in.readAllBytes();
      }
    }
  }

  private static final class OwnLoader extends ClassLoader {
    private final byte[] bytes;

    OwnLoader(byte[] bytes) {
      super(null);
      this.bytes = bytes;
    }

    @Override
    protected Class<?> findClass(String name) {
      return defineClass(name, bytes, 0, bytes.length);
    }
  }
}
