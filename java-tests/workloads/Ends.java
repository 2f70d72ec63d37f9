import java.util.ArrayList;
import java.util.List;

/**
 * Threads that run out of memory, are stopped, or end the program in the middle of a call. Each
 * method counts its calls in its first statement; all must be counted.
 * Argument: oom, stop, exit or halt.
 */
public final class Ends {
  private static volatile long spins;
  private static long hoards, keeps, goesOns, turns, deeps;

  private Ends() {}

  // ---- OutOfMemoryError ---------------------------------------------------------------------------

  private static int hoard(List<byte[]> kept, int depth) {
    hoards++;
    keep(kept);
    return 1 + hoard(kept, depth + 1);
  }

  private static void keep(List<byte[]> kept) {
    keeps++;
    kept.add(new byte[1 << 20]);
  }

  private static void outOfMemory() {
    for (int i = 0; i < 20; i++) {
      List<byte[]> kept = new ArrayList<>();
      try {
        hoard(kept, 0);
      } catch (OutOfMemoryError e) {
        kept.clear();
      }
      goOn(1000);
    }
  }

  private static void goOn(int left) {
    goesOns++;
    if (left > 1) goOn(left - 1);
  }

  // ---- Thread.stop --------------------------------------------------------------------------------

  private static void spin() {
    while (true) {
      spins++;
      turn(3);
    }
  }

  private static void turn(int left) {
    turns++;
    if (left > 0) turn(left - 1);
  }

  @SuppressWarnings({"deprecation", "removal"})
  private static void stopped() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      Thread thread = new Thread(Ends::untilStopped, "stopped");
      long before = spins;
      thread.start();
      while (spins < before + 5_000) Thread.sleep(1);
      thread.stop();
      thread.join();
    }
  }

  @SuppressWarnings("removal")
  private static void untilStopped() {
    try {
      spin();
    } catch (ThreadDeath e) {
      goOn(100);
    }
  }

  // ---- The end of the program ---------------------------------------------------------------------

  private static void deep(int left, boolean exit) {
    deeps++;
    goOn(left % 7 + 1);
    if (left > 0) {
      deep(left - 1, exit);
      return;
    }
    expect(deeps, "deep(int,boolean)");
    expect(goesOns, "goOn(int)");
    if (exit) System.exit(3);
    Runtime.getRuntime().halt(4);
  }

  private static void expect(long calls, String method) {
    System.out.println("EXPECT " + calls + " Ends." + method);
  }

  private static void near(long slack, long calls, String method) {
    System.out.println("EXPECT_NEAR " + slack + " " + calls + " Ends." + method);
  }

  public static void main(String[] args) throws InterruptedException {
    switch (args[0]) {
      case "oom":
        outOfMemory();
        expect(hoards, "hoard(List,int)");
        expect(keeps, "keep(List)");
        expect(goesOns, "goOn(int)");
        break;
      case "stop":
        stopped();
        expect(20L, "spin()");
        near(20, turns, "turn(int)");
        expect(goesOns, "goOn(int)");
        break;
      default:
        for (int i = 0; i < 20_000; i++) goOn(i % 50 + 1);
        deep(100, args[0].equals("exit"));
    }
  }
}
