/**
 * Warms fib up on several threads, then calls it on a new one, where every call runs compiled code.
 * Several, because the first thread after compilation takes a path through the probe that was never
 * taken before: the compiled code is deoptimised once, and compiled again.
 */
public final class WarmFib {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  private static void run(String name, int rounds, int n) throws InterruptedException {
    Thread thread =
        new Thread(
            () -> {
              int sum = 0;
              for (int i = 0; i < rounds; i++) sum += fib(n);
              System.out.println(sum);
            },
            name);
    thread.start();
    thread.join();
  }

  public static void main(String[] args) throws InterruptedException {
    for (int i = 0; i < 4; i++) run("warm-up", 30, 24);
    run("warm", 1, 28);
  }
}
