package sample;

/** Takes processor time. */
final class Primes {
  private Primes() {}

  static long sum(int limit) {
    long sum = 0;
    for (int i = 2; i < limit; i++) {
      if (isPrime(i)) sum += i;
    }
    return sum;
  }

  private static boolean isPrime(int x) {
    for (int d = 2; d * d <= x; d++) {
      if (x % d == 0) return false;
    }
    return true;
  }
}
