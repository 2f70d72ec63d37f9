import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait on objects of known classes while the collector moves these: some permanently,
 * some for a moment, again and again, each time on a new object.
 */
final class Blockers {
  static final class Gate {}

  static final class Mailbox {}

  static final class Ticket {}

  private static volatile Object garbage;
  private static Gate gate = new Gate();
  private static Mailbox mailbox = new Mailbox();
  private static Object[] array = new Object[3];
  private static ReentrantLock lock = new ReentrantLock();

  private static void start(String name, int count, Workers.Body body) {
    for (int i = 0; i < count; i++) Workers.start(name + "-" + i, body);
  }

  static void enter() {
    synchronized (gate) {
      garbage = null;
    }
  }

  static void await(Object object) throws InterruptedException {
    synchronized (object) {
      while (!Workers.over) object.wait();
    }
  }

  static void park() {
    while (!Workers.over) LockSupport.park(new Ticket());
  }

  static void parkOnNothing() {
    while (!Workers.over) LockSupport.park();
  }

  static void lock() throws InterruptedException {
    lock.lockInterruptibly();
    lock.unlock();
  }

  static void sleep() throws InterruptedException {
    while (!Workers.over) Thread.sleep(60_000);
  }

  static void read(Socket socket) throws IOException {
    socket.getInputStream().read();
  }

  static void waitBriefly() throws InterruptedException {
    while (!Workers.over) {
      Mailbox fresh = new Mailbox();
      synchronized (fresh) {
        fresh.wait(3);
      }
    }
  }

  static void parkBriefly() {
    while (!Workers.over) LockSupport.parkNanos(new Ticket(), 3_000_000);
  }

  private static void churn(long millis) throws InterruptedException {
    long end = System.nanoTime() + millis * 1_000_000;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 200; i++) garbage = new byte[10_000];
      System.gc();
      Thread.sleep(20);
    }
  }

  /** args: for how many milliseconds the permanently waiting threads wait. */
  public static void main(String[] args) throws Exception {
    lock.lock();
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      synchronized (gate) {
        start("enterer", 3, Blockers::enter);
        start("waiter", 3, () -> await(mailbox));
        start("parker", 3, Blockers::park);
        start("loafer", 3, Blockers::parkOnNothing);
        start("arrayer", 1, () -> await(array));
        start("locker", 1, Blockers::lock);
        start("sleeper", 1, Blockers::sleep);
        start("reader", 1, () -> read(client));
        start("napper", 3, Blockers::waitBriefly);
        start("nodder", 3, Blockers::parkBriefly);
        Workers.settle("napper", "nodder");
        churn(Long.parseLong(args[0]));
        Workers.over = true;
      }
      accepted.getOutputStream().write(1);
      lock.unlock();
      Workers.end();
    }
    System.out.println("done");
  }
}
