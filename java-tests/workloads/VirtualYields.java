import java.lang.reflect.Method;
import java.util.BitSet;
import java.util.StringTokenizer;

/**
 * Virtual threads that leave their carriers between calls of methods of the JDK, which nothing else
 * calls meanwhile (JDK 21). args: threads, yields of each. With a third one they begin when a line
 * of input says "go", and "end" ends the program: one that answers as Attached does.
 */
public final class VirtualYields {
  private VirtualYields() {}

  private static void task(int yields) {
    BitSet bits = new BitSet(64);
    for (int i = 0; i < yields; i++) {
      bits.flip(i & 63);
      Thread.yield();
    }
  }

  private static void run(int threads, int yields) throws Exception {
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    Thread[] started = new Thread[threads];
    Runnable task = () -> task(yields);
    for (int i = 0; i < threads; i++) started[i] = (Thread) start.invoke(null, task);
    StringTokenizer words = new StringTokenizer("a ".repeat(threads));
    for (int i = 0; words.hasMoreTokens(); i++) {
      words.nextToken();
      started[i].join();
    }
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[0]);
    int yields = Integer.parseInt(args[1]);
    if (args.length == 2) {
      run(threads, yields);
      System.out.println("joined");
      return;
    }
    System.out.println("ready");
    for (int c, line = 0; (c = System.in.read()) >= 0; ) {
      if (c != '\n') {
        line = c;
        continue;
      }
      if (line == 'd') break; // "end"
      run(threads, yields);
      System.out.println("joined");
    }
    System.out.println("ended");
  }
}
