/** Gives the processor up in one method and not in another. Argument: how often. */
final class Sleeps {
  static void sleepOften(int times) throws InterruptedException {
    for (int i = 0; i < times; i++) Thread.sleep(1);
  }

  static long compute(int times) {
    long x = 1;
    for (int i = 0; i < times * 100_000; i++) x = x * 31 + i;
    return x;
  }

  public static void main(String[] args) throws InterruptedException {
    int times = Integer.parseInt(args[0]);
    sleepOften(times);
    System.out.println(compute(times));
  }
}
