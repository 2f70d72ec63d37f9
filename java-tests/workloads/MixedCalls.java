/**
 * Compiled methods that call one which never is: run with
 * {@code -XX:CompileCommand=exclude,MixedCalls.inner}.
 */
public final class MixedCalls {
  static final int ROUNDS = 200_000;

  private MixedCalls() {}

  private static int inner(int x) {
    return Integer.bitCount(x);
  }

  private static int outer(int x) {
    return inner(x) + leaf(x);
  }

  /** Compiled as its caller is. */
  private static int leaf(int x) {
    return x & 1;
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) sum += outer(i);
    System.out.println(sum);
  }
}
