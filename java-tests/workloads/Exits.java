/** Ends the program in the middle of calls, in every possible way. */
public final class Exits {
  private static void down(int n, String how) {
    if (n > 0) {
      down(n - 1, how);
      return;
    }
    System.out.println("ends by " + how);
    switch (how) {
      case "exit" -> System.exit(7);
      case "halt" -> Runtime.getRuntime().halt(8);
      case "throw" -> throw new IllegalStateException("not caught");
      default -> throw new IllegalArgumentException(how);
    }
  }

  public static void main(String[] args) {
    down(20, args[0]);
  }
}
