import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;

/**
 * Calls from known lines, for sites=on. Each method reports its call to SiteCounter, which finds
 * the calling line by walking the stack: at the end these are printed as `caller:line > callee
 * calls`. The argument is the number of rounds.
 */
public final class SiteCases {
  static int sink;

  static int one(int x) {
    SiteCounter.called();
    return (x + sink) & 7;
  }

  static int two(int x) {
    SiteCounter.called();
    return one(x) + one(x + 1);
  }

  static int lines(int x) {
    SiteCounter.called();
    int sum = one(x);
    sum += two(x) + one(x) + one(x);
    sum +=
        one(x)
            + two(
                one(x));
    return sum;
  }

  static int recursive(int depth) {
    SiteCounter.called();
    if (depth <= 0) return one(depth);
    int sum = recursive(depth - 1);
    sum += recursive(depth - 2);
    return sum + other(depth - 3);
  }

  static int other(int depth) {
    SiteCounter.called();
    return depth <= 0 ? two(depth)
        : recursive(depth - 1);
  }

  /** Joins of control flow: the line before a call depends on the way to it. */
  @SuppressWarnings("fallthrough")
  static int branches(int x) {
    SiteCounter.called();
    int sum = 0;
    if (x % 2 == 0) {
      sum += one(x);
    } else if (x % 3 == 0) {
      sum += two(x);
    }
    sum += one(x);
    for (int i = one(x) & 1; i < x % 4; i++) {
      sum += i % 2 == 0 ? one(i)
          : two(i);
    }
    switch (x % 3) {
      case 0:
        sum += one(x);
      case 1:
        sum += one(x);
        break;
      default:
        sum -= one(x);
    }
    while (sum > 0 && one(sum) >= 0) sum = Math.min(sum, 3) - 1;
    return sum;
  }

  static int throwing(int x) {
    SiteCounter.called();
    if (x % 5 == 2) throw new IllegalStateException();
    return one(x);
  }

  static int catching(int x) {
    SiteCounter.called();
    int sum = one(x);
    try {
      sum += throwing(x);
      sum += throwing(x + 1)
          + one(x);
    } catch (IllegalStateException e) {
      sum += one(x);
    } finally {
      sum += one(x);
    }
    try { sum += deep(x); } catch (IllegalStateException e) { sum += two(x); }
    return sum + one(x);
  }

  /** Its callee's exception passes through it. */
  static int deep(int x) {
    SiteCounter.called();
    int sum = one(x);
    sum += throwing(x + 2);
    return sum;
  }

  /** What calls from the JDK's own code has the line that called the JDK. */
  static int lambdas(int x) {
    SiteCounter.called();
    List<Integer> values = new ArrayList<>(List.of(x, x + 1));
    values.forEach(
        it -> {
          SiteCounter.called();
          sink = one(it);
        });
    values.replaceAll(SiteCases::boxed);
    values.sort(
        (a, b) -> {
          SiteCounter.called();
          return compare(a, b);
        });
    IntUnaryOperator operator = SiteCases::one;
    return operator.applyAsInt(x)
        + operator.applyAsInt(x);
  }

  static Integer boxed(Integer x) {
    SiteCounter.called();
    return two(x);
  }

  static int compare(int a, int b) {
    SiteCounter.called();
    return Integer.compare(one(a), b);
  }

  static class Base {
    final int value;

    Base(int value) {
      SiteCounter.called();
      this.value = one(value);
    }

    int get() {
      SiteCounter.called();
      return value;
    }
  }

  static final class Derived extends Base {
    Derived(int value) {
      super(
          two(value));
      SiteCounter.called();
      sink += get()
          - one(value);
    }

    @Override
    int get() {
      SiteCounter.called();
      return super.get() + one(value);
    }

    @Override
    public String toString() {
      SiteCounter.called();
      return "" + one(value);
    }
  }

  static int objects(int x) {
    SiteCounter.called();
    Base base = x % 2 == 0 ? new Base(x)
        : new Derived(x);
    int length = ("object " + base).length();
    return base.get() + length
        + base.get();
  }

  /** Initialized by the first call: the JVM calls that, from no line. */
  static final class Initialized {
    static final int VALUE;

    static {
      VALUE = one(1)
          + two(2);
    }

    static int get() {
      SiteCounter.called();
      return VALUE;
    }
  }

  static int initialized(int x) {
    SiteCounter.called();
    int sum = one(x);
    sum += Initialized.VALUE + one(x);
    return sum + Initialized.get();
  }

  /** A method that calls nothing, and one whose calls all are on one line. */
  static int leaf(int x) {
    return x ^ 5;
  }

  static int leaves(int x) {
    SiteCounter.called();
    SiteCounter.calling("leaf"); int sum = leaf(x);
    SiteCounter.calling("leaf"); sum += leaf(x);
    for (int i = 0; i < 3; i++) {
      SiteCounter.calling("leaf"); sum += leaf(i);
    }
    return sum;
  }

  static void work(int x) {
    SiteCounter.called();
    sink += lines(x);
    sink += recursive(x % 5);
    sink += branches(x);
    sink += catching(x);
    sink += lambdas(x);
    sink += objects(x);
    sink += initialized(x);
    sink += leaves(x);
    sink &= 7;
  }

  public static void main(String[] args) throws InterruptedException {
    int rounds = Integer.parseInt(args[0]);
    Thread thread = new Thread(() -> {
      for (int i = 0; i < rounds; i++) work(i);
    });
    thread.start();
    for (int i = 0; i < rounds; i++) work(i);
    thread.join();
    SiteCounter.print();
  }
}

/** Out of scope. */
final class SiteCounter {
  private static final Map<String, Integer> CALLS = new ConcurrentHashMap<>();
  private static final StackWalker WALKER = StackWalker.getInstance();

  private SiteCounter() {}

  private static String method(StackWalker.StackFrame frame) {
    return frame.getClassName() + "." + frame.getMethodName();
  }

  /** The frames of the program that are in scope, from the innermost. */
  private static List<StackWalker.StackFrame> frames(int most) {
    return WALKER.walk(
        all ->
            all.filter(it -> it.getClassName().startsWith("SiteCases"))
                .limit(most)
                .toList());
  }

  /** The caller of this was called. */
  static void called() {
    List<StackWalker.StackFrame> frames = frames(2);
    StackWalker.StackFrame caller = frames.get(1);
    count(method(caller) + ":" + caller.getLineNumber() + " > " + method(frames.get(0)));
  }

  /** The caller of this calls that method next, from the same line. */
  static void calling(String name) {
    StackWalker.StackFrame caller = frames(1).get(0);
    count(method(caller) + ":" + caller.getLineNumber() + " > SiteCases." + name);
  }

  private static void count(String key) {
    CALLS.merge(key, 1, Integer::sum);
  }

  static void print() {
    new TreeMap<>(CALLS).forEach((site, calls) -> System.out.println("SITE " + site + " = " + calls));
  }
}
