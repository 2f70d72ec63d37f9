/** A hundred million calls that leave the program: measures the cost of a boundary probe. */
public final class Outside {
  private static final int CALLS = 100_000_000;

  private Outside() {}

  private static int leave(int from) {
    int x = from;
    for (int i = 0; i < CALLS; i++) x = Integer.rotateLeft(x, 3) + i;
    return x;
  }

  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 4;
    int x = 1;
    for (int i = 0; i < rounds; i++) {
      long begin = System.nanoTime();
      x = leave(x);
      long took = System.nanoTime() - begin;
      System.out.println(took / (CALLS / 1000) / 1000.0 + " ns a call");
    }
    if (x == 42) System.out.println();
  }
}
