/** Every second call of a method throws. */
public final class Throws {
  private static int half(int n) {
    try {
      if (n % 2 == 0) throw new IllegalStateException();
      return 1;
    } catch (IllegalStateException expected) {
      return 0;
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < 20_000; i++) sum += half(i);
    System.out.println(sum);
  }
}
