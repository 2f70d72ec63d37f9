package sample;

import static org.junit.jupiter.api.Assertions.assertTrue;

import jtrace.api.Measurement;
import jtrace.api.Metric;
import jtrace.api.Scope;
import jtrace.junit5.JTraceExtension;
import jtrace.junit5.JTraceScope;
import jtrace.junit5.MaxAllocated;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Several threads for one test. */
@ExtendWith(JTraceExtension.class)
class FamilyTest {
  private static final int BYTES = 1_000_000;
  private static byte[] last;

  private static final class Child implements Runnable {
    @Override
    public void run() {
      last = new byte[BYTES];
    }
  }

  private static void inAnotherThread(Runnable run) throws InterruptedException {
    Thread thread = new Thread(run);
    thread.start();
    thread.join();
  }

  @Test
  @JTraceScope(Scope.DESCENDANTS)
  @MaxAllocated("0")
  void child() throws InterruptedException {
    Thread thread = new Thread(new Child());
    thread.start();
    thread.join();
  }

  /** Runs in another thread, as code under assertTimeoutPreemptively does. */
  @Test
  void asksInAnotherThread(Measurement soFar) throws InterruptedException {
    last = new byte[BYTES];
    long[] bytes = new long[1];
    inAnotherThread(() -> bytes[0] = soFar.get(Metric.ALLOC_BYTES));
    assertTrue(bytes[0] > BYTES && bytes[0] <= soFar.get(Metric.ALLOC_BYTES), bytes[0] + " B");
  }

  /** At this point nothing is measured yet. */
  @Nested
  class TooEarly {
    @BeforeEach
    void before(Measurement none) {}

    @Test
    void test() {}
  }
}
