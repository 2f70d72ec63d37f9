/** A hot loop with a call that the compiler inlines, and one that an option keeps out of line. */
public final class NotInlined {
  private static int small(int n) {
    return n + 1;
  }

  static int kept(int n) {
    return small(n) ^ 5;
  }

  private static int run(int n) {
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += small(n + i) + kept(i);
    return sum;
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < 30_000; i++) sum += run(i);
    System.out.println(sum);
  }
}
