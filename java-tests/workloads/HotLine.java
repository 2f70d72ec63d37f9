/** One line takes nearly all of the time; lines around it run as often, or never. */
public final class HotLine {
  static long work(int n) {
    long x = 88172645463325252L;
    int sum = 0;
    for (int i = 0; i < n; i++) {
      if (x == 0) {
        throw new IllegalStateException("zero");
      }
      sum += i;
      x = (x / (i | 3) ^ x << 7) % 1_000_000_007L * 48271L % 998_244_353L / (sum | 1) + 88172645463325252L;
      if (sum == -1) {
        x = -x;
        sum = 0;
      }
    }
    return x + sum;
  }

  public static void main(String[] args) {
    long sum = 0;
    for (int i = 0; i < 400; i++) sum += work(100_000 + i);
    System.out.println(sum);
  }
}
