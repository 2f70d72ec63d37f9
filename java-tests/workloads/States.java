import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** Threads that each do only one thing and have its name. args: for how many milliseconds. */
final class States {
  private static final Object LOCK = new Object();
  private static final Object NEVER = new Object();
  static volatile long spun;

  static void spin() {
    while (!Workers.over) spun++;
  }

  static void sleepOn() throws InterruptedException {
    while (!Workers.over) Thread.sleep(60_000);
  }

  static void parkOn() {
    while (!Workers.over) LockSupport.park();
  }

  static void takeOn(LinkedBlockingQueue<String> queue) throws InterruptedException {
    queue.take();
  }

  static void waitOn() throws InterruptedException {
    synchronized (NEVER) {
      while (!Workers.over) NEVER.wait();
    }
  }

  static void hold(CountDownLatch held) throws InterruptedException {
    synchronized (LOCK) {
      held.countDown();
      while (!Workers.over) Thread.sleep(60_000);
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
    CountDownLatch held = new CountDownLatch(1);
    Pipe pipe = Pipe.open();
    Workers.start("holder", () -> hold(held));
    held.await();
    Workers.start("spinner", States::spin);
    Workers.start("sleeper", States::sleepOn);
    Workers.start("parker", States::parkOn);
    Workers.start("taker", () -> takeOn(new LinkedBlockingQueue<>()));
    Workers.start("waiter", States::waitOn);
    Workers.start("enterer", States::enter);
    Workers.start("reader", () -> read(pipe));
    Workers.settle("spinner");
    Thread.sleep(millis);
    Workers.over = true;
    pipe.sink().write(ByteBuffer.allocate(1));
    Workers.end();
    System.out.println("done");
  }
}
