import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls out of scope whose time depends on others, with the program's own readings around them.
 *
 * <p>Each line {@code OWN LEAST MOST PATH} says what the calls at the end of PATH took: MOST was
 * read around them, less what was read inside of methods that they called back; LEAST is what they
 * waited for by contract.
 */
public final class TimedCalls {
  private static final int ROUNDS = 20;
  private static final long WAIT = TimeUnit.MILLISECONDS.toNanos(2);

  private static volatile long insideOfInit;

  private TimedCalls() {}

  private static void say(long least, long most, String path) {
    System.out.println("OWN " + least + " " + most + " " + path);
  }

  private static long sleeps() throws InterruptedException {
    long took = 0;
    for (int i = 0; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      TimeUnit.NANOSECONDS.sleep(WAIT);
      took += System.nanoTime() - begin;
    }
    return took;
  }

  /** Each call waits, and ends by an exception. */
  private static long throwing() throws InterruptedException {
    Exchanger<String> alone = new Exchanger<>();
    long took = 0;
    for (int i = 0; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      try {
        alone.exchange("", WAIT, TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        took += System.nanoTime() - begin;
      }
    }
    return took;
  }

  /** The handler is one call further up. */
  private static void throwingThrough(Exchanger<String> alone) throws Exception {
    alone.exchange("", WAIT, TimeUnit.NANOSECONDS);
  }

  private static long caughtFurtherUp() {
    Exchanger<String> alone = new Exchanger<>();
    long took = 0;
    for (int i = 0; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      try {
        throwingThrough(alone);
      } catch (Exception e) {
        took += System.nanoTime() - begin;
      }
    }
    return took;
  }

  /** Its initializer, a callback of Class.forName, works, and waits itself. */
  static final class Slow {
    static {
      long begin = System.nanoTime();
      work(WAIT);
      pause();
      work(WAIT);
      insideOfInit = System.nanoTime() - begin;
    }

    private static void work(long nanos) {
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < nanos) {
        Math.abs(begin);
      }
    }

    private static void pause() {
      try {
        TimeUnit.NANOSECONDS.sleep(WAIT);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static long callBack() throws ClassNotFoundException {
    long begin = System.nanoTime();
    Class.forName("TimedCalls$Slow");
    return System.nanoTime() - begin - insideOfInit;
  }

  /** DelayQueue.take asks for the delay, then waits for it, then asks again. */
  private static final class Late implements Delayed {
    private final long deadline = System.nanoTime() + WAIT;
    private long first;
    private long inside;

    @Override
    public long getDelay(TimeUnit unit) {
      long begin = System.nanoTime();
      long delay = deadline - begin;
      if (first == 0) {
        first = Math.max(delay, 1);
      }
      inside += System.nanoTime() - begin;
      return unit.convert(delay, TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return 0;
    }
  }

  /** The waits after callbacks; then, what was read around the calls less what was read inside. */
  private static long[] waitsAfterCallBack() throws InterruptedException {
    long[] sums = new long[2];
    for (int i = 0; i < ROUNDS; i++) {
      DelayQueue<Late> queue = new DelayQueue<>();
      Late late = new Late();
      queue.put(late);
      long begin = System.nanoTime();
      queue.take();
      sums[1] += System.nanoTime() - begin - late.inside;
      sums[0] += late.first;
    }
    return sums;
  }

  /** In two threads at once. */
  private static final class Waiter extends Thread {
    private volatile long took;

    Waiter(String name) {
      super(name);
    }

    @Override
    public void run() {
      try {
        took = sleeps();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    String in = " TimedCalls.";
    String sleep = " > java.util.concurrent.TimeUnit.sleep(long)";
    String exchange = " > java.util.concurrent.Exchanger.exchange(Object,long,TimeUnit)";
    say(ROUNDS * WAIT, sleeps(), "main" + in + "main(String[]) >" + in + "sleeps()" + sleep);
    say(ROUNDS * WAIT, throwing(), "main" + in + "main(String[]) >" + in + "throwing()" + exchange);
    say(ROUNDS * WAIT, caughtFurtherUp(), "main" + in + "main(String[]) >" + in
        + "caughtFurtherUp() >" + in + "throwingThrough(Exchanger)" + exchange);
    String callBack = "main" + in + "main(String[]) >" + in
        + "callBack() > java.lang.Class.forName(String)";
    say(1, callBack(), callBack);
    say(WAIT, insideOfInit - 2 * WAIT,
        callBack + " > TimedCalls$Slow.<clinit>() > TimedCalls$Slow.pause()" + sleep);
    long[] waits = waitsAfterCallBack();
    say(waits[0], waits[1], "main" + in + "main(String[]) >" + in
        + "waitsAfterCallBack() > java.util.concurrent.DelayQueue.take()");
    Waiter[] waiters = {new Waiter("waiter-1"), new Waiter("waiter-2")};
    for (Waiter waiter : waiters) {
      waiter.start();
    }
    for (Waiter waiter : waiters) {
      waiter.join();
      say(ROUNDS * WAIT, waiter.took, waiter.getName() + " TimedCalls$Waiter.run() >" + in
          + "sleeps()" + sleep);
    }
  }
}
