package cases;

/**
 * Overflows the stack again and again. The method's own counter is its first statement, so the
 * probe may have counted one call more for each overflow: the call that overflowed in the probe or
 * between the probe and the statement.
 */
public final class StackOverflows {
  private static final int OVERFLOWS = 40;
  private static long calls;

  private static void down() {
    calls++;
    down();
  }

  private static void after() {}

  public static void main(String[] args) throws InterruptedException {
    Thread thread =
        new Thread(
            null,
            () -> {
              for (int i = 0; i < OVERFLOWS; i++) {
                try {
                  down();
                } catch (StackOverflowError expected) {
                  after();
                }
              }
            },
            "deep",
            512 << 10);
    thread.start();
    thread.join();
    System.out.println("EXPECT_NEAR " + OVERFLOWS + " " + calls + " cases.StackOverflows.down()");
    System.out.println("EXPECT " + OVERFLOWS + " cases.StackOverflows.after()");
  }
}
