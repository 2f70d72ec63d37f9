/** The template of the classes that ManyClasses makes; the digits of the name are a number. */
final class Batch00000000 implements Runnable {
  Batch00000000() {}

  @Override
  public void run() {
    ManyClasses.count(step(step(1)));
  }

  static int step(int x) {
    return x * 31 + 7;
  }
}
