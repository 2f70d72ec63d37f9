import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for a known one, a known number of times: the others do what ends the wait when
 * all of them wait, and have done so for a while.
 */
public final class WaitedFor {
  static final int ROUNDS = 3;
  private static final int MILLIS = 60;

  static final class Monitor {}

  static final class Box {}

  private WaitedFor() {}

  private static boolean waits(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.BLOCKED;
  }

  /** Returns when they all have waited for some time. */
  static void settle(Thread... threads) throws InterruptedException {
    for (Thread thread : threads) {
      while (!waits(thread)) Thread.onSpinWait();
    }
    Thread.sleep(MILLIS);
  }

  interface Body {
    void run() throws InterruptedException, BrokenBarrierException, ExecutionException;
  }

  static Thread thread(String name, Body body) {
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } catch (InterruptedException | BrokenBarrierException | ExecutionException e) {
                throw new IllegalStateException(e);
              }
            },
            name);
    thread.start();
    return thread;
  }

  private static void end(Thread... threads) throws InterruptedException {
    // No join: that would be a wait.
    for (Thread thread : threads) {
      while (thread.isAlive()) Thread.sleep(1);
    }
  }

  /** Two workers wait for the slowest of three. */
  static void barrier() throws InterruptedException {
    CyclicBarrier barrier = new CyclicBarrier(3);
    Thread first = thread("first", () -> arrive(barrier));
    Thread second = thread("second", () -> arrive(barrier));
    Thread slowest =
        thread(
            "slowest",
            () -> {
              for (int i = 0; i < ROUNDS; i++) {
                settle(first, second);
                arriveLast(barrier);
              }
            });
    end(first, second, slowest);
  }

  static void arrive(CyclicBarrier barrier) throws InterruptedException, BrokenBarrierException {
    for (int i = 0; i < ROUNDS; i++) barrier.await();
  }

  static void arriveLast(CyclicBarrier barrier)
      throws InterruptedException, BrokenBarrierException {
    barrier.await();
  }

  /** Three threads wait for a latch, which two others count down; the later one opens it. */
  static void latch() throws InterruptedException {
    CountDownLatch latch = new CountDownLatch(2);
    Thread[] waiters = new Thread[3];
    for (int i = 0; i < waiters.length; i++) {
      waiters[i] = thread("latched-" + i, () -> await(latch));
    }
    settle(waiters);
    Thread early = thread("early", () -> countDown(latch));
    end(early);
    settle(waiters);
    Thread last = thread("last", () -> countDown(latch));
    end(waiters);
    end(last);
  }

  static void await(CountDownLatch latch) throws InterruptedException {
    latch.await();
  }

  static void countDown(CountDownLatch latch) {
    latch.countDown();
  }

  /** A lock that its holder releases when the other one waits for it. */
  static void lock() throws InterruptedException {
    ReentrantLock lock = new ReentrantLock();
    for (int i = 0; i < ROUNDS; i++) {
      CountDownLatch held = new CountDownLatch(1);
      Thread[] locker = new Thread[1];
      Thread holder =
          thread(
              "lock-holder-" + i,
              () -> {
                lock.lock();
                held.countDown();
                while (locker[0] == null) Thread.sleep(1);
                settle(locker[0]);
                release(lock);
              });
      while (held.getCount() != 0) Thread.sleep(1);
      Thread waiter = thread("locker-" + i, () -> acquire(lock));
      locker[0] = waiter;
      end(holder, waiter);
    }
  }

  static void acquire(ReentrantLock lock) {
    lock.lock();
    lock.unlock();
  }

  static void release(ReentrantLock lock) {
    lock.unlock();
  }

  /** The same with a monitor. */
  static void monitor() throws InterruptedException {
    Monitor monitor = new Monitor();
    for (int i = 0; i < ROUNDS; i++) {
      Thread[] entering = new Thread[1];
      CountDownLatch held = new CountDownLatch(1);
      Thread holder =
          thread(
              "monitor-holder-" + i,
              () -> {
                synchronized (monitor) {
                  held.countDown();
                  while (entering[0] == null) Thread.sleep(1);
                  settle(entering[0]);
                  // The JVM may need long to look up the owner where other programs run.
                  Thread.sleep(5 * MILLIS);
                }
              });
      while (held.getCount() != 0) Thread.sleep(1);
      Thread enterer = thread("enterer-" + i, () -> enter(monitor));
      entering[0] = enterer;
      end(holder, enterer);
    }
  }

  static void enter(Monitor monitor) {
    synchronized (monitor) {
      Thread.onSpinWait();
    }
  }

  /** Thread.join. */
  static void join() throws InterruptedException {
    Thread[] joiner = new Thread[1];
    Thread ending =
        thread(
            "ending",
            () -> {
              while (joiner[0] == null) Thread.sleep(1);
              settle(joiner[0]);
            });
    Thread joining = thread("joiner", () -> joinIt(ending));
    joiner[0] = joining;
    end(ending, joining);
  }

  static void joinIt(Thread thread) throws InterruptedException {
    thread.join();
  }

  /** The result of a task that another thread runs. */
  static void future() throws InterruptedException {
    Thread[] getter = new Thread[1];
    FutureTask<Integer> task =
        new FutureTask<>(
            () -> {
              while (getter[0] == null) Thread.sleep(1);
              settle(getter[0]);
              return 42;
            });
    Thread getting = thread("getter", () -> get(task));
    getter[0] = getting;
    Thread runner = thread("runner", () -> compute(task));
    end(runner, getting);
  }

  static void get(FutureTask<Integer> task) throws InterruptedException, ExecutionException {
    if (task.get() != 42) throw new AssertionError();
  }

  static void compute(FutureTask<Integer> task) {
    task.run();
  }

  /** Waits that no thread ended, or that none is known to have. */
  static void others() throws InterruptedException {
    Thread sleepy = thread("sleepy", () -> LockSupport.parkNanos(1_000_000));
    Thread parked = thread("parked", LockSupport::park);
    settle(parked);
    parked.interrupt();
    Box box = new Box();
    Thread notified =
        thread(
            "notified",
            () -> {
              synchronized (box) {
                box.wait();
              }
            });
    settle(notified);
    synchronized (box) {
      box.notifyAll();
    }
    Thread timed =
        thread(
            "timed",
            () -> {
              synchronized (box) {
                box.wait(5);
              }
            });
    end(sleepy, parked, notified, timed);
  }

  /**
   * Runs commands from standard input: "latch"; "park" starts a thread that waits for a latch, which
   * "open" opens; "end".
   */
  static void serve() throws InterruptedException, IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    CountDownLatch latch = new CountDownLatch(1);
    Thread across = null;
    System.out.println("ready");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("latch")) latch();
      if (line.equals("park")) {
        CountDownLatch opened = new CountDownLatch(1);
        latch = opened;
        across = thread("across", () -> await(opened));
        settle(across);
      }
      if (line.equals("open")) {
        latch.countDown();
        end(across);
      }
      if (line.equals("end")) break;
      System.out.println("done");
    }
    System.out.println("ended");
  }

  public static void main(String[] args) throws InterruptedException, IOException {
    if (args.length > 0) {
      serve();
      return;
    }
    barrier();
    latch();
    lock();
    monitor();
    join();
    future();
    others();
    System.out.println("done");
  }
}
