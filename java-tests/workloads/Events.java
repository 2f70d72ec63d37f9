import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/** Causes each event that is recorded a known number of times. */
public final class Events {
  static final int THROWN = 5_000;
  static final int CONTENDED = 20;
  static final int WAITS = 7;
  static final int COLLECTIONS = 3;
  static final int PARKS = 11;

  private static final Object LOCK = new Lock();
  private static volatile byte[] sink;

  private Events() {}

  private static final class Lock {}

  private static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  public static void main(String[] args) throws InterruptedException {
    for (int i = 0; i < THROWN; i++) exceptions(i);
    for (int i = 0; i < CONTENDED; i++) contend();
    for (int i = 0; i < WAITS; i++) pause();
    for (int i = 0; i < COLLECTIONS; i++) System.gc();
    for (int i = 0; i < PARKS; i++) LockSupport.parkNanos(1_000);
    for (int i = 0; i < 64 * 1024; i++) sink = new byte[1024 + i % 2];
  }

  /** One is thrown and caught here, one thrown by a method of the JDK, one passes a finally. */
  private static void exceptions(int i) {
    try {
      fail(i);
    } catch (Failure expected) {
      seen();
    }
    try {
      Integer.parseInt("x");
    } catch (NumberFormatException expected) {
      seen();
    }
    try {
      unchecked(i);
    } catch (IOException | Failure expected) {
      seen();
    }
  }

  private static void fail(int i) {
    if (i >= 0) throw new Failure();
  }

  private static void unchecked(int i) throws IOException {
    try {
      if (i % 2 == 0) throw new IOException();
      throw made();
    } finally {
      seen();
    }
  }

  private static Failure made() {
    return new Failure();
  }

  private static void seen() {}

  /** The other thread waits for the monitor while this one holds it. */
  private static void contend() throws InterruptedException {
    Thread other = new Thread(Events::enter, "contender");
    synchronized (LOCK) {
      other.start();
      while (other.getState() != Thread.State.BLOCKED) Thread.onSpinWait();
    }
    other.join();
  }

  private static void enter() {
    synchronized (LOCK) {
      seen();
    }
  }

  private static void pause() throws InterruptedException {
    synchronized (LOCK) {
      LOCK.wait(1);
    }
  }
}
