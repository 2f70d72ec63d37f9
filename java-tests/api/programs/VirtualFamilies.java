package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import jtrace.api.JTrace;
import jtrace.api.Measurement;
import jtrace.api.MethodStats;
import jtrace.api.Metric;
import jtrace.api.Scope;
import jtrace.api.Window;

/**
 * Windows of threads that make virtual threads (JDK 21). Argument: how many short ones at the end.
 * Prints "name=value"; each call of array() takes 1,016 bytes.
 */
public final class VirtualFamilies {
  private static final String ARRAY = "programs.VirtualFamilies::array";
  private static volatile Object sink;

  private VirtualFamilies() {}

  static void array() {
    sink = new byte[1000];
  }

  static void arrays(int count) {
    for (int i = 0; i < count; i++) array();
  }

  /** Releases its carrier to other threads in between. */
  static void slowArrays(int count) {
    arrays(count);
    try {
      Thread.sleep(2);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    arrays(count);
  }

  /** A thread that is not a descendant of the threads that submit tasks to it. */
  private static final class Stranger {
    private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    Stranger() {
      Thread thread = new Thread(() -> {
        for (;;) {
          try {
            tasks.take().run();
          } catch (InterruptedException e) {
            return;
          }
        }
      });
      thread.setDaemon(true);
      thread.start();
    }

    void run(Runnable task) throws InterruptedException {
      CountDownLatch done = new CountDownLatch(1);
      tasks.put(() -> {
        task.run();
        done.countDown();
      });
      done.await();
    }
  }

  private static void executor(ExecutorService executor) throws Exception {
    List<Future<?>> tasks = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Callable<Void> task = () -> {
        slowArrays(1);
        VirtualThreads.join(VirtualThreads.start(() -> arrays(1)));
        return null;
      };
      tasks.add(executor.submit(task));
    }
    for (Future<?> task : tasks) task.get();
  }

  /** 3 arrays in each of 100 tasks, 10 in each of 10 threads, 5 in a thread of a platform thread. */
  private static void family(ExecutorService executor) throws Exception {
    executor(executor);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 10; i++) threads.add(VirtualThreads.start(() -> slowArrays(5)));
    for (Thread thread : threads) thread.join();
    Thread platform = new Thread(() -> VirtualThreads.join(VirtualThreads.start(() -> arrays(5))));
    platform.start();
    platform.join();
  }

  private static void printBytes(String name, MethodStats stats) {
    long more = stats.cum() - 1016 * stats.calls();
    // The JVM itself allocates something now and then.
    print(name, stats.calls() + (more >= 0 && more < 4000 ? " exact" : " and " + more + " more"));
  }

  private static void fromThePlatform(ExecutorService executor) throws Exception {
    Stranger stranger = new Stranger();
    long process = JTrace.processTotal(Metric.ALLOC_BYTES);
    Window own = JTrace.window(Scope.THREAD, Metric.ALLOC_BYTES);
    Window family = JTrace.window(Scope.DESCENDANTS, Metric.ALLOC_BYTES);
    Window all = JTrace.window(Scope.PROCESS);
    arrays(1);
    family(executor);
    stranger.run(() -> VirtualThreads.join(VirtualThreads.start(() -> arrays(50))));
    Thread waiting = VirtualThreads.start(() -> slowArrays(1));
    printBytes("own", own.method(Metric.ALLOC_BYTES, ARRAY));
    waiting.join();
    printBytes("family", family.method(Metric.ALLOC_BYTES, ARRAY));
    printBytes("process", all.method(Metric.ALLOC_BYTES, ARRAY));
    long total = family.total(Metric.ALLOC_BYTES);
    long most = JTrace.processTotal(Metric.ALLOC_BYTES) - process;
    print("total", total >= 408 * 1016 && total <= most - 50 * 1016);
    print("paths", family.topPaths(Metric.CALLS, "", ARRAY, 1).get(0).value() > 0);
    own.close();
    all.close();
    family.close();
    print("closed", inheritsNothing());
  }

  /** A thread made now is in no window. */
  private static boolean inheritsNothing() {
    Window later = JTrace.window(Scope.DESCENDANTS);
    later.close();
    long before = JTrace.method(ARRAY).calls();
    VirtualThreads.join(VirtualThreads.start(() -> arrays(1)));
    return JTrace.method(ARRAY).calls() == before + 1;
  }

  private static void fromAVirtualThread() {
    VirtualThreads.join(VirtualThreads.start(() -> {
      Window family = JTrace.window(Scope.DESCENDANTS, Metric.ALLOC_BYTES);
      slowArrays(2);
      VirtualThreads.join(VirtualThreads.start(() -> VirtualThreads.join(VirtualThreads.start(() -> slowArrays(3)))));
      printBytes("of a virtual thread", family.method(Metric.ALLOC_BYTES, ARRAY));
      long total = family.total(Metric.ALLOC_BYTES);
      print("its total", total >= 10 * 1016 && total < 10_000_000);
      family.close();
    }));
  }

  /** The kernel has no clocks of virtual threads. */
  private static void clocksOfAVirtualThread() {
    Runnable ask = () -> JTrace.total(Metric.CPU);
    Thread thread = VirtualThreads.start(() -> {
      print("own clock", refusal(ask));
      Measurement all = JTrace.measure(() -> arrays(1));
      boolean counted = all.get(Metric.ALLOC_BYTES) >= 1016;
      print("measured", counted + " " + refusal(() -> all.get(Metric.CPU)));
    });
    VirtualThreads.join(thread);
    print("clock of an ended one", refusal(() -> JTrace.total(thread, Metric.CPU)));
  }

  private static String refusal(Runnable run) {
    try {
      run.run();
      return "none";
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      return e.getClass().getSimpleName();
    }
  }

  /** More threads than the agent keeps one by one after they have ended. */
  private static void many(int count) throws InterruptedException {
    Window family = JTrace.window(Scope.DESCENDANTS, Metric.ALLOC_BYTES);
    for (int done = 0; done < count; done += 500) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 500; i++) threads.add(VirtualThreads.start(VirtualFamilies::array));
      for (Thread thread : threads) thread.join();
    }
    print("many", family.method(Metric.CALLS, ARRAY).calls());
    print("total of many", family.total(Metric.ALLOC_BYTES) >= count * 1016L);
    family.close();
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }

  public static void main(String[] args) throws Exception {
    ExecutorService executor =
        (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    fromThePlatform(executor);
    executor.shutdown();
    fromAVirtualThread();
    clocksOfAVirtualThread();
    many(Integer.parseInt(args[0]));
  }
}
