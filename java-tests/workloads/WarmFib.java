/** Warms fib up on one thread, then calls it on a new one, where every call runs compiled code. */
public final class WarmFib {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  public static void main(String[] args) throws InterruptedException {
    for (int i = 0; i < 30; i++) fib(24);
    Thread warm = new Thread(() -> System.out.println(fib(28)), "warm");
    warm.start();
    warm.join();
  }
}
