import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Calls that leave the program's own classes, and call back; the test knows their counts. */
public final class Boundary {
  private static final int ROUNDS = 20_000;
  private static long sum;

  private Boundary() {}

  public static void main(String[] args) {
    for (int i = 0; i < ROUNDS; i++) {
      callBack(i);
      throwOut(i);
      construct(i);
      inherited(i);
    }
    System.out.println("sum " + sum);
  }

  /** Out to the JDK and from there back into scope. */
  private static void callBack(int i) {
    Map<Integer, Integer> map = new HashMap<>();
    map.computeIfAbsent(i, Boundary::square);
    List<Integer> list = new ArrayList<>();
    list.add(i);
    list.forEach(Boundary::take);
    after();
  }

  private static int square(int i) {
    return i * i;
  }

  private static void take(int i) {
    sum += i;
  }

  private static void after() {}

  /** The call throws: caught here, and by the caller. */
  private static void throwOut(int i) {
    try {
      sum += Integer.parseInt("x" + i % 7);
    } catch (NumberFormatException expected) {
      caughtInside();
    }
    try {
      parse("y");
    } catch (NumberFormatException expected) {
      caughtOutside();
    }
  }

  private static void parse(String text) {
    sum += Integer.parseInt(text);
  }

  private static void caughtInside() {}

  private static void caughtOutside() {}

  /** Constructors: of the JDK, of a class with a JDK superclass, with calls before super(…). */
  private static void construct(int i) {
    Sub made = new Sub(i);
    sum += made.size() + made.value;
  }

  private static final class Sub extends ArrayList<Integer> {
    private static final long serialVersionUID = 1;
    final int value;

    Sub(int i) {
      super(Math.max(1, i & 3));
      value = Math.abs(i);
      add(i);
    }
  }

  /** A native method counts as one of the JDK unless the scope names it. */
  private static void inherited(int i) {
    int[] from = {i, i + 1};
    int[] to = from.clone();
    System.arraycopy(from, 0, to, 1, 1);
    sum += to[1];
  }
}
