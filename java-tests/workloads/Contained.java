/**
 * A program for restricted systems: two threads make a known number of calls, and the output and the exit code
 * are always the same. With an argument it then waits for the end of standard input.
 */
public final class Contained {
  private static final int EXIT = 3;

  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  private static void work(String name) {
    long sum = 0;
    for (int i = 0; i < 20; i++) sum += fib(28);
    synchronized (Contained.class) {
      System.out.println(sum);
    }
  }

  public static void main(String[] args) throws Exception {
    Thread other = new Thread(() -> work("other"), "other");
    other.start();
    work("main");
    other.join();
    if (args.length > 0) {
      System.out.println("ready");
      while (System.in.read() >= 0) fib(10);
    }
    System.exit(EXIT);
  }
}
