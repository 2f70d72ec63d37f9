package cases;

/** Recursion deeper than a tree should be: of one method, and of two in turn. */
public final class DeepRecursion {
  private static final int DEPTH = 6_000;
  private static final int ROUNDS = 20;

  private static int alone(int depth) {
    return depth == 0 ? leaf(depth) : alone(depth - 1) + 1;
  }

  private static int even(int depth) {
    return depth == 0 ? 0 : odd(depth - 1) + leaf(depth);
  }

  private static int odd(int depth) {
    return depth == 0 ? 1 : even(depth - 1) - leaf(depth);
  }

  private static int leaf(int x) {
    return x * 31;
  }

  private static void run() {
    for (int i = 0; i < ROUNDS; i++) {
      alone(DEPTH);
      even(DEPTH);
    }
  }

  public static void main(String[] args) throws Exception {
    // More stack than main has, for interpreted frames.
    Thread thread = new Thread(null, DeepRecursion::run, "deep", 64 << 20);
    thread.start();
    thread.join();
    long half = DEPTH / 2;
    System.out.println("EXPECT " + ROUNDS * (DEPTH + 1) + " cases.DeepRecursion.alone(int)");
    System.out.println("EXPECT " + ROUNDS * (half + 1) + " cases.DeepRecursion.even(int)");
    System.out.println("EXPECT " + ROUNDS * half + " cases.DeepRecursion.odd(int)");
    System.out.println("EXPECT " + ROUNDS * (DEPTH + 1) + " cases.DeepRecursion.leaf(int)");
  }
}
