import java.lang.reflect.Method;

/**
 * Calls that take known times by clock=manual, when trees already fill 8 of 12 MB: one takes 94 % of
 * its caller's time, one 5 % and one 0.01 %. Argument: how deep the paths are that fill the memory.
 */
public final class ShortCalls {
  static final int ROUNDS = 300;
  private static Method advance;

  private ShortCalls() {}

  private static void pass(long micros) {
    try {
      advance.invoke(null, micros * 1000);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int leaf() {
    return 1;
  }

  private static int left(int depth) {
    return depth == 0 ? leaf() : left(depth - 1) + right(depth - 1);
  }

  private static int right(int depth) {
    return depth == 0 ? 2 : left(depth - 1) + right(depth - 1);
  }

  private static void longOne() {
    pass(94_000);
  }

  private static void middling() {
    pass(4_990);
  }

  private static void brief() {
    pass(10);
    below();
  }

  private static void below() {}

  private static void caller() throws InterruptedException {
    for (int i = 0; i < ROUNDS; i++) {
      longOne();
      middling();
      brief();
      // The agent looks at the tree ten times a second.
      if (i % 100 == 0) Thread.sleep(300);
    }
  }

  public static void main(String[] args) throws Exception {
    Class<?> clock = Class.forName("java.lang.invoke.JTraceClock");
    advance = clock.getMethod("advance", long.class);
    System.out.println(left(Integer.parseInt(args[0])));
    Thread.sleep(3_000);
    caller();
  }
}
