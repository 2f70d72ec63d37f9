import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.util.function.LongConsumer;

/**
 * S4.3's program: B and C call D 40 times each, B's calls cost three times as much. Times are in
 * milliseconds of the table; by clock=manual, or scaled down a thousand times on the processor.
 */
public final class TableTwo {
  private TableTwo() {}

  static final class Program {
    private final LongConsumer spend;

    Program(LongConsumer spend) {
      this.spend = spend;
    }

    void start() {
      spend.accept(100);
      main();
    }

    void main() {
      spend.accept(1_000);
      a();
    }

    void a() {
      spend.accept(10_000);
      b();
      c();
    }

    void b() {
      spend.accept(20_000);
      for (int i = 0; i < 40; i++) d(750);
    }

    void c() {
      spend.accept(30_000);
      for (int i = 0; i < 40; i++) d(250);
    }

    void d(long cost) {
      spend.accept(cost);
    }
  }

  private static LongConsumer manualClock() throws ReflectiveOperationException {
    Method advance =
        Class.forName("java.lang.invoke.JTraceClock").getMethod("advance", long.class);
    return milliseconds -> {
      try {
        advance.invoke(null, milliseconds * 1_000_000);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    };
  }

  private static LongConsumer processor() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return microseconds -> {
      long end = threads.getCurrentThreadCpuTime() + microseconds * 1_000;
      while (threads.getCurrentThreadCpuTime() < end) Thread.onSpinWait();
    };
  }

  /** Argument: "manual" or "processor". */
  public static void main(String[] args) throws Exception {
    Program program = new Program(args[0].equals("manual") ? manualClock() : processor());
    Thread thread = new Thread(program::start, "main-thread");
    thread.start();
    thread.join();
  }
}
