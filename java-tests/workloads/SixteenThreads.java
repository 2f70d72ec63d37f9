import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Sixteen threads walk at random, each with its own seed, through methods that call each other,
 * recurse, throw and catch. Each method's first statement counts its call path.
 * Argument: walks of a thread.
 */
public final class SixteenThreads {
  private static final int THREADS = 16;

  private static final class Lost extends RuntimeException {
    private static final long serialVersionUID = 1;

    Lost() {
      super(null, null, false, false);
    }
  }

  private final Random random;

  private SixteenThreads(long seed) {
    random = new Random(seed);
  }

  private void step(CallPaths above, int left) {
    CallPaths path = above.call("step");
    if (left == 0) return;
    switch (random.nextInt(6)) {
      case 0:
        step(path, left - 1);
        break;
      case 1:
        twice(path, left - 1);
        break;
      case 2:
        rescued(path, left - 1);
        break;
      case 3:
        cleansUp(path, left - 1);
        break;
      default:
        leaf(path);
    }
  }

  private void twice(CallPaths above, int left) {
    CallPaths path = above.call("twice");
    step(path, left);
    step(path, left);
  }

  private void rescued(CallPaths above, int left) {
    CallPaths path = above.call("rescued");
    try {
      step(path, left);
      throwsDeep(path, left);
    } catch (Lost e) {
      leaf(path);
    }
    leaf(path);
  }

  private void throwsDeep(CallPaths above, int left) {
    CallPaths path = above.call("throwsDeep");
    if (left <= 0) throw new Lost();
    throwsDeep(path, left - 2);
    leaf(path);
  }

  private void cleansUp(CallPaths above, int left) {
    CallPaths path = above.call("cleansUp");
    try {
      if (random.nextInt(3) == 0) throwsDeep(path, left);
      step(path, left);
    } catch (Lost e) {
      twice(path, Math.max(0, left - 3));
    } finally {
      leaf(path);
    }
  }

  private static void leaf(CallPaths above) {
    above.call("leaf");
  }

  private void walks(CallPaths above, int walks) {
    CallPaths path = above.call("walks");
    for (int i = 0; i < walks; i++) step(path, 5);
  }

  public static void main(String[] args) throws InterruptedException {
    int walks = Integer.parseInt(args[0]);
    List<Thread> threads = new ArrayList<>();
    List<CallPaths> roots = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      CallPaths root = new CallPaths();
      SixteenThreads walker = new SixteenThreads(i);
      roots.add(root);
      threads.add(new Thread(Walks.of(walker, root, walks), "walker" + i));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    for (int i = 0; i < THREADS; i++) roots.get(i).print("walker" + i, "");
  }

  /** A class, not a lambda: its name is the same everywhere. */
  private record Walks(SixteenThreads walker, CallPaths root, int walks) implements Runnable {
    static Walks of(SixteenThreads walker, CallPaths root, int walks) {
      return new Walks(walker, root, walks);
    }

    @Override
    public void run() {
      walker.walks(root, walks);
    }
  }
}
