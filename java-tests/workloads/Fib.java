import java.lang.management.ManagementFactory;

/** Recursive Fibonacci: nothing but calls, the worst case for probes at entry and exit. */
public class Fib {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  /** The number of calls of fib that fib(n) causes, including itself. */
  static long calls(int n) {
    long before = 1;
    long last = 1;
    for (int i = 2; i <= n; i++) {
      long next = 1 + before + last;
      before = last;
      last = next;
    }
    return last;
  }

  /** Arguments: n, rounds. Prints CPU nanoseconds a call, a line a round. */
  public static void main(String[] args) {
    int n = Integer.parseInt(args[0]);
    for (int round = Integer.parseInt(args[1]); round > 0; round--) {
      long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      fib(n);
      long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      System.out.printf("%.3f%n", (end - start) / (double) calls(n));
    }
  }
}
