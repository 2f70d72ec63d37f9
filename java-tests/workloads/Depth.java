/** How deep a method can call itself before the stack is full; the last of many tries. */
public final class Depth {
  private static int depth;

  private Depth() {}

  private static void goDown(int level) {
    depth = level;
    goDown(level + 1);
  }

  public static void main(String[] args) {
    for (int i = 0; i < 20; i++) {
      try {
        goDown(1);
      } catch (StackOverflowError e) {
        // expected
      }
    }
    System.out.println(depth);
  }
}
