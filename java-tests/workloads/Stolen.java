import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Its thread is off the processor unnoticed, as when a hypervisor takes the processor away: it
 * sleeps and then undoes the kernel's notice (the word of clock=cpu, struct rseq). Prints the time
 * of methods by the JVM's own clock, read inside of them and around them:
 * {@code METHOD CPU_NS CPU_NS}; the true time is between the two.
 */
public final class Stolen {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long MS = 1_000_000;

  private static final class Word {
    private final Object unsafe;
    private final Method get;
    private final Method put;
    private final long address;
    private final long intact;

    /** The word of the calling thread. */
    Word() throws ReflectiveOperationException {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field field = type.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      unsafe = field.get(null);
      get = type.getMethod("getLong", long.class);
      put = type.getMethod("putLong", long.class, long.class);
      Method word = Class.forName("jtrace.NativeClock", true, null).getDeclaredMethod("rseqWord");
      word.setAccessible(true);
      address = (long) word.invoke(null);
      long value = 0;
      for (int tries = 0; address != 0 && value == 0 && tries < 1_000; tries++) {
        touch();
        value = (long) get.invoke(unsafe, address);
      }
      intact = value;
    }
  }

  private static final class Used {
    private long inside;
    private long around;

    void before() {
      around = -THREADS.getCurrentThreadCpuTime();
    }

    void begin() {
      inside = -THREADS.getCurrentThreadCpuTime();
    }

    void end() {
      inside += THREADS.getCurrentThreadCpuTime();
    }

    void after() {
      around += THREADS.getCurrentThreadCpuTime();
    }

    void print(String method) {
      System.out.println(method + " " + inside + " " + around);
    }
  }

  private Stolen() {}

  /** Its probes renew the word. */
  static void touch() {
    Thread.yield();
  }

  static void robbed(Word word, Used used) throws Exception {
    used.begin();
    Thread.sleep(30);
    // No call of a probed method: it would find the word as the kernel left it.
    word.put.invoke(word.unsafe, word.address, word.intact);
    used.end();
  }

  /** Works and sleeps without a call of a probed method. */
  static void innocent(Used used) throws Exception {
    used.begin();
    long end = THREADS.getCurrentThreadCpuTime() + 40 * MS;
    while (THREADS.getCurrentThreadCpuTime() < end) {
      Thread.onSpinWait();
    }
    Thread.sleep(1);
    used.end();
  }

  public static void main(String[] args) throws Exception {
    Word word = new Word();
    if (word.intact == 0) return;  // clock=cpu is unavailable
    Used robbed = new Used();
    Used innocent = new Used();
    word.put.invoke(word.unsafe, word.address, word.intact);
    robbed.before();
    robbed(word, robbed);
    robbed.after();
    innocent.before();
    innocent(innocent);
    innocent.after();
    robbed.print("robbed");
    innocent.print("innocent");
  }
}
