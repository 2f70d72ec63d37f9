/** A program whose native library brings protobuf, Abseil and libstdc++ of its own, and throws exceptions. */
public class OwnLibraries {
  /** Uses the libraries; exceptions are thrown and caught inside. Returns how many. */
  static native int use(int rounds);

  /** Arguments: the library, milliseconds to work. Prints "ready", then what was caught if it is all. */
  public static void main(String[] args) throws InterruptedException {
    System.load(args[0]);
    System.out.println("ready");
    System.out.flush();
    long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000;
    Thread[] threads = new Thread[4];
    int[] wrong = new int[threads.length];
    for (int i = 0; i < threads.length; i++) {
      int index = i;
      threads[i] = new Thread(() -> {
        do {
          if (use(100) != 100) wrong[index]++;
        } while (System.nanoTime() < end);
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    for (int count : wrong) {
      if (count != 0) throw new AssertionError(count + " rounds went wrong");
    }
    System.out.println("all caught");
  }
}
