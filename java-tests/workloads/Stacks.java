import java.io.FileInputStream;
import java.io.IOException;
import java.util.Arrays;

/** One call path that ends in the JDK or in the kernel; runs until its CPU time is used. */
final class Stacks {
  static long sum;

  static int less(Integer a, Integer b) {
    sum++;
    return Integer.compare(b, a);
  }

  /** The comparator is called back by the JDK. */
  static void sort() {
    Integer[] numbers = new Integer[4096];
    for (int i = 0; i < numbers.length; i++) numbers[i] = (i * 7919) % 4099;
    Arrays.sort(numbers, Stacks::less);
    sum += numbers[0];
  }

  static void read(byte[] buffer) throws IOException {
    try (FileInputStream zero = new FileInputStream("/dev/zero")) {
      for (int i = 0; i < 100; i++) sum += zero.read(buffer);
    }
  }

  static void outer(String what, byte[] buffer) throws IOException {
    if (what.equals("sort")) {
      sort();
    } else {
      read(buffer);
    }
  }

  public static void main(String[] args) throws IOException {
    var threads = java.lang.management.ManagementFactory.getThreadMXBean();
    long until = threads.getCurrentThreadCpuTime() + Long.parseLong(args[1]) * 1_000_000;
    byte[] buffer = new byte[1 << 16];
    while (threads.getCurrentThreadCpuTime() < until) outer(args[0], buffer);
    System.out.println("done " + (sum != 0));
  }
}
