/**
 * target() is entered 350 times by three paths: main > left 200, main > right > left 100, main > right
 * 50 times. Argument: rounds of each.
 */
public class Unwinds {
  static long sum;

  static void target(int i) {
    sum += i;
  }

  static void left(int i) {
    target(i);
  }

  static void right(int i) {
    left(i);
    if (i % 2 == 0) target(i);
  }

  public static void main(String[] args) {
    int rounds = Integer.parseInt(args[0]);
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < 200; i++) left(i);
      for (int i = 0; i < 100; i++) right(i);
    }
    System.out.println(sum);
  }
}
