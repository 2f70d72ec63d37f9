/** Prints the primes up to 1,000. */
public class Primes {
  static boolean prime(int n) {
    for (int d = 2; d * d <= n; d++) {
      if (n % d == 0) return false;
    }
    return true;
  }

  public static void main(String[] args) {
    for (int n = 2; n <= 1000; n++) {
      if (prime(n)) System.out.println(n);
    }
  }
}
