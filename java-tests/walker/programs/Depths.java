/**
 * Stack overflows, deep stacks, implicit exceptions, contended locks and thread churn. Argument:
 * seconds.
 */
public class Depths {
  static volatile long sink;
  static int depth;

  static void overflow() {
    depth++;
    overflow();
    depth++;
  }

  static int nullCheck(String s) {
    try {
      return s.length();
    } catch (NullPointerException e) {
      return e.getStackTrace().length;
    }
  }

  static long divide(int a, int b) {
    try {
      return a / b;
    } catch (ArithmeticException e) {
      return 1;
    }
  }

  static long deep(int n) {
    if (n > 0) return deep(n - 1) + 1;
    long end = System.nanoTime() + 3_000_000;
    long x = 0;
    while (System.nanoTime() < end) x++;
    return x;
  }

  static synchronized long locked(long x) {
    return x + 1;
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    Thread rival = new Thread(() -> {
      while (System.nanoTime() < end) sink = locked(sink);
    });
    rival.start();
    while (System.nanoTime() < end) {
      try {
        overflow();
      } catch (StackOverflowError e) {
        sink += depth;
      }
      for (int i = 0; i < 300; i++) sink += nullCheck(i % 3 == 0 ? "abc" : null) + divide(i, i % 7);
      Thread diver = new Thread(null, () -> sink += deep(20_000), "diver", 256 << 20);
      diver.start();
      diver.join();
      for (int i = 0; i < 2_000; i++) sink = locked(sink);
      for (int i = 0; i < 10; i++) {
        Thread brief = new Thread(() -> sink += divide(1, 1));
        brief.start();
        brief.join();
      }
    }
    rival.join();
    System.out.println("Depths done " + (sink != 0));
  }
}
