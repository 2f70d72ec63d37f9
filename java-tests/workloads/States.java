import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** Threads that each do one thing only, named for it, until the main thread has spun long enough. */
final class States {
  private static final Object LOCK = new Object();
  private static final Object NEVER = new Object();
  private static volatile boolean over;
  static volatile long spun;

  private interface Body {
    void run() throws IOException, InterruptedException;
  }

  private static Thread start(String name, List<Thread> all, Body body) {
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } catch (IOException | InterruptedException e) {
                if (!over) throw new IllegalStateException(e);
              }
            },
            name);
    thread.start();
    all.add(thread);
    return thread;
  }

  static void spin() {
    while (!over) spun++;
  }

  static void sleepOn() throws InterruptedException {
    while (!over) Thread.sleep(60_000);
  }

  static void parkOn() {
    while (!over) LockSupport.park();
  }

  static void takeOn(LinkedBlockingQueue<String> queue) throws InterruptedException {
    queue.take();
  }

  static void waitOn() throws InterruptedException {
    synchronized (NEVER) {
      while (!over) NEVER.wait();
    }
  }

  static void hold(CountDownLatch held) throws InterruptedException {
    synchronized (LOCK) {
      held.countDown();
      while (!over) Thread.sleep(60_000);
    }
  }

  static void enter() {
    synchronized (LOCK) {
      spun++;
    }
  }

  static void read(Pipe pipe) throws IOException {
    pipe.source().read(ByteBuffer.allocate(1));
  }

  public static void main(String[] args) throws Exception {
    long millis = Long.parseLong(args[0]);
    List<Thread> all = new ArrayList<>();
    CountDownLatch held = new CountDownLatch(1);
    Pipe pipe = Pipe.open();
    start("holder", all, () -> hold(held));
    held.await();
    start("spinner", all, States::spin);
    start("sleeper", all, States::sleepOn);
    start("parker", all, States::parkOn);
    start("taker", all, () -> takeOn(new LinkedBlockingQueue<>()));
    start("waiter", all, States::waitOn);
    start("enterer", all, States::enter);
    start("reader", all, () -> read(pipe));
    Thread.sleep(millis);
    over = true;
    pipe.sink().write(ByteBuffer.allocate(1));
    for (Thread thread : all) thread.interrupt();
    for (Thread thread : all) thread.join();
    System.out.println("done");
  }
}
