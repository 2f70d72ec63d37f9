package sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jtrace.api.Measurement;
import jtrace.api.Metric;
import jtrace.api.Scope;
import jtrace.junit5.ExpectCalls;
import jtrace.junit5.JTraceExtension;
import jtrace.junit5.JTraceScope;
import jtrace.junit5.MaxAllocated;
import jtrace.junit5.MaxCpu;
import jtrace.junit5.Warmup;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Stays within its limits. */
@ExtendWith(JTraceExtension.class)
class CartTest {
  private final Cart cart = new Cart();

  @BeforeEach
  void fill() {
    cart.print(1_000); // calls before each test do not count
    cart.add("tea", 450);
  }

  @Test
  @MaxAllocated("0")
  @ExpectCalls(method = "sample.Cart::total", min = 1, max = 1)
  void totalAllocatesNothing() {
    long total = cart.total();
    if (total != 450) throw new AssertionError(total);
  }

  @Test
  @Warmup(3)
  @MaxAllocated("10160 B")
  @MaxCpu("10 s")
  void tenPages(Measurement soFar) {
    cart.print(9);
    assertTrue(soFar.get(Metric.ALLOC_BYTES) >= 9 * 1016);
  }

  @Test
  @JTraceScope(Scope.DESCENDANTS)
  @ExpectCalls(method = "sample.Cart::page(int)", min = 20, max = 20)
  void printsInTheBackground() throws InterruptedException {
    Thread printer = new Thread(() -> cart.print(20));
    printer.start();
    printer.join();
  }

  @Test
  void needsNoAgent() {
    assertEquals(495, cart.shipping());
  }
}
