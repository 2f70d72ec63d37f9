import java.util.OptionalInt;
import java.util.function.IntSupplier;

/** A hot call of a call-back by a method of the JDK, which the compiler inlines with it. */
public final class CallBack {
  private static final IntSupplier SUPPLIER = CallBack::supply;
  private static final OptionalInt EMPTY = OptionalInt.empty();
  private static int supplied;

  static int supply() {
    return ++supplied;
  }

  static int run(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += EMPTY.orElseGet(SUPPLIER);
    return sum;
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < 3000; i++) sum += run(1000);
    System.out.println(sum);
  }
}
