package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Allocates on more call paths than a small memory= has room for, in methods that call one another
 * at random, and keeps some of it. Argument: how many paths are walked.
 */
public final class ManyPaths {
  private static final int DEPTH = 10;
  private static final Random RANDOM = new Random(1);
  private static final List<Object> KEPT = new ArrayList<>();
  private static Object sink;

  private ManyPaths() {}

  private static void step(int depth) {
    if (depth == 0) return;
    switch (RANDOM.nextInt(4)) {
      case 0 -> drops(depth - 1);
      case 1 -> keepsSome(depth - 1);
      case 2 -> allocatesLast(depth - 1);
      default -> step(depth - 1);
    }
  }

  private static void drops(int depth) {
    sink = new byte[100];
    step(depth);
  }

  private static void keepsSome(int depth) {
    byte[] bytes = new byte[50];
    sink = bytes;
    if (RANDOM.nextInt(10) == 0) KEPT.add(bytes);
    step(depth);
  }

  private static void allocatesLast(int depth) {
    step(depth);
    sink = new byte[20];
  }

  private static void walk(int paths) {
    for (int i = 0; i < paths; i++) step(DEPTH);
  }

  public static void main(String[] args) throws InterruptedException {
    int paths = Integer.parseInt(args[0]);
    // What JDK 17 does not report.
    for (int i = 0; i < 20_000; i++) sink = new byte[100];
    walk(paths);
    Thread other = new Thread(() -> walk(paths / 4), "other");
    other.start();
    other.join();
    System.gc();
    System.out.println("kept=" + KEPT.size());
  }
}
