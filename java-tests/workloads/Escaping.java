import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that allocate escaping objects, whose bytes are known exactly. Arguments: how many
 * threads, rounds of the first (each further one does one more), {@code platform} or {@code
 * virtual}. Platform threads print the JDK's count for their rounds: "name bytes".
 */
public final class Escaping {
  private static final ThreadMXBean JDK = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  static volatile Object sink;

  /** 16 and 100 bytes, rounded up: 120. */
  static void small() {
    sink = new byte[100];
  }

  /** 16 and 8,000 bytes: 8,016. */
  static void big() {
    sink = new long[1000];
  }

  /** A leaf by its bytecode: 16 and 4 bytes, rounded up: 24. */
  static int[] leaf() {
    return new int[1];
  }

  /** One object (16 bytes) besides those of its callees. */
  static void round() {
    small();
    big();
    sink = leaf();
    sink = new Object();
  }

  static void rounds(int n) {
    for (int i = 0; i < n; i++) round();
  }

  /** Allocates nothing, but releases the carrier to others in between. */
  static void yieldingRounds(int n) {
    for (int i = 0; i < n; i++) {
      round();
      if ((i & 63) == 0) Thread.yield();
    }
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[0]);
    int rounds = Integer.parseInt(args[1]);
    boolean virtual = args[2].equals("virtual");
    List<Thread> started = new ArrayList<>();
    CountDownLatch ended = new CountDownLatch(threads);
    long[] allocated = new long[threads];
    for (int i = 0; i < threads; i++) {
      int number = i;
      Runnable work = () -> {
        if (virtual) {
          yieldingRounds(rounds + number);
        } else {
          long before = allocatedByTheJdk();
          rounds(rounds + number);
          allocated[number] = allocatedByTheJdk() - before;
        }
        ended.countDown();
      };
      started.add(virtual ? startVirtual(work) : new Thread(work, "worker-" + number));
      if (!virtual) started.get(i).start();
    }
    ended.await();
    for (int i = 0; i < threads && !virtual; i++) {
      System.out.println("worker-" + i + " " + allocated[i]);
    }
  }

  private static long allocatedByTheJdk() {
    return JDK.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  /** JDK 21, by reflection. */
  private static Thread startVirtual(Runnable work) throws ReflectiveOperationException {
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    return (Thread) start.invoke(null, work);
  }
}
