package programs;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that call a hooked function, while others install handlers of SIGTRAP. Arguments:
 * library, threads, calls of each, way. Prints the number of errors, of traps of hooks that the
 * handler got, and of the program's own three traps that it got.
 */
public final class LateHandlers {
  private static final int INSTALLERS = 4;
  private static final int LEAST_CHANGES = 1000;

  private LateHandlers() {}

  static native boolean bySigaction();

  static native boolean bySignal();

  static native void bySystemCall();

  static native boolean isInFront();

  static native long traps();

  static native long ownTraps(boolean isReported);

  private static final AtomicLong wrong = new AtomicLong();

  private static final CountDownLatch handledInJava = new CountDownLatch(1);

  /** sun.misc.Signal.handle, by reflection, because compilers warn about it. */
  private static void bySignalOfJava() throws ReflectiveOperationException {
    Class<?> signal = Class.forName("sun.misc.Signal");
    Class<?> handler = Class.forName("sun.misc.SignalHandler");
    Object noting =
        Proxy.newProxyInstance(
            handler.getClassLoader(),
            new Class<?>[] {handler},
            (proxy, method, arguments) -> {
              handledInJava.countDown();
              return null;
            });
    Method handle = signal.getMethod("handle", signal, handler);
    handle.invoke(null, signal.getConstructor(String.class).newInstance("TRAP"), noting);
  }

  private static void install(String way) throws ReflectiveOperationException {
    switch (way) {
      case "sigaction" -> wrong.addAndGet(bySigaction() ? 0 : 1);
      case "signal" -> wrong.addAndGet(bySignal() ? 0 : 1);
      case "java" -> bySignalOfJava();
      default -> throw new IllegalArgumentException(way);
    }
  }

  private static void call(long calls) {
    for (long i = 0; i < calls; i++) {
      if (Hooked.add(i) != 3 * i + 1) wrong.incrementAndGet();
    }
  }

  private static void callWhileHandlersCome(String way, int threadCount, long calls)
      throws InterruptedException {
    AtomicInteger callers = new AtomicInteger(threadCount);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < threadCount; i++) {
      threads.add(
          new Thread(
              () -> {
                call(calls);
                callers.decrementAndGet();
              }));
    }
    for (int i = 0; i < INSTALLERS; i++) {
      threads.add(
          new Thread(
              () -> {
                try {
                  for (int done = 0; done < LEAST_CHANGES || callers.get() != 0; done++) install(way);
                } catch (ReflectiveOperationException e) {
                  throw new AssertionError(e);
                }
              }));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }

  private static long ownTrapsInJava() throws InterruptedException, ReflectiveOperationException {
    Class<?> signal = Class.forName("sun.misc.Signal");
    Object trap = signal.getConstructor(String.class).newInstance("TRAP");
    signal.getMethod("raise", signal).invoke(null, trap);
    handledInJava.await();
    return 3;
  }

  public static void main(String[] args) throws InterruptedException, ReflectiveOperationException {
    System.load(args[0]);
    int threads = Integer.parseInt(args[1]);
    long calls = Long.parseLong(args[2]);
    String way = args[3];
    if (way.equals("system call")) {
      bySystemCall();
      while (isInFront()) Thread.sleep(1);
      call(threads * calls);
    } else {
      callWhileHandlersCome(way, threads, calls);
    }
    long stray = traps();
    long own = way.equals("java") ? ownTrapsInJava() : ownTraps(!way.equals("signal"));
    System.out.println("wrong " + wrong + " stray " + stray + " own " + own);
  }
}
