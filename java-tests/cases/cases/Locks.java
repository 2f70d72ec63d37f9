// options codes=+lock
package cases;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Monitors and locks that are requested and released a known number of times. */
public final class Locks {
  private static final int BLOCKS = 1_000;
  private static final int METHODS = 700;
  private static final int THROWN = 300;
  private static final int NESTED = 50;
  private static final int TAKEN = 400;

  private static int sum;

  /** Its lock method is inherited: the program's class itself has no code for it. */
  private static final class OwnLock extends ReentrantLock {
    private static final long serialVersionUID = 1;
  }

  private static void block(Object monitor, int i) {
    synchronized (monitor) {
      if (i % 3 == 0) return;
      sum += i;
    }
  }

  private static void throwing(Object monitor) {
    synchronized (monitor) {
      throw new IllegalStateException();
    }
  }

  private static synchronized int method(int i) {
    return i % 2 == 0 ? sum++ : sum--;
  }

  private synchronized void throwingMethod() {
    throw new IllegalStateException();
  }

  /** Requests the same monitor at each level. */
  private static synchronized void nested(int depth) {
    if (depth > 1) nested(depth - 1);
  }

  private static void locks(Lock lock) {
    for (int i = 0; i < TAKEN; i++) {
      lock.lock();
      try {
        sum++;
      } finally {
        lock.unlock();
      }
      if (lock.tryLock()) lock.unlock();
    }
  }

  private static void stamped(StampedLock lock) {
    for (int i = 0; i < TAKEN; i++) {
      lock.unlockRead(lock.readLock());
      lock.unlockWrite(lock.writeLock());
    }
  }

  public static void main(String[] args) {
    Locks own = new Locks();
    for (int i = 0; i < BLOCKS; i++) block(own, i);
    for (int i = 0; i < METHODS; i++) method(i);
    nested(NESTED);
    int caught = 0;
    for (int i = 0; i < THROWN; i++) {
      try {
        throwing(own);
      } catch (IllegalStateException expected) {
        caught++;
      }
      try {
        own.throwingMethod();
      } catch (IllegalStateException expected) {
        caught++;
      }
    }
    locks(new OwnLock());
    ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    locks(both.writeLock());
    stamped(new StampedLock());
    if (caught != 2 * THROWN || Thread.holdsLock(own) || Thread.holdsLock(Locks.class)) {
      throw new AssertionError();
    }
    int monitors = BLOCKS + METHODS + NESTED + 2 * THROWN;
    System.out.println("EXPECT " + monitors + " [monitorenter]");
    System.out.println("EXPECT " + monitors + " [monitorexit]");
    String locks = "java.util.concurrent.locks.";
    System.out.println("EXPECT_NEAR 99 " + TAKEN + " " + locks + "ReentrantLock.lock()");
    expect(locks + "ReentrantReadWriteLock$WriteLock.lock()", TAKEN);
    expect(locks + "ReentrantReadWriteLock$WriteLock.tryLock()", TAKEN);
    expect(locks + "ReentrantReadWriteLock$WriteLock.unlock()", 2 * TAKEN);
    expect(locks + "StampedLock.readLock()", TAKEN);
    expect(locks + "StampedLock.unlockRead(long)", TAKEN);
    expect(locks + "StampedLock.writeLock()", TAKEN);
    expect(locks + "StampedLock.unlockWrite(long)", TAKEN);
  }

  private static void expect(String routine, int calls) {
    System.out.println("EXPECT " + calls + " " + routine);
  }
}
