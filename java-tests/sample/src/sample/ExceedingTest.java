package sample;

import jtrace.api.Scope;
import jtrace.junit5.ExpectCalls;
import jtrace.junit5.JTraceExtension;
import jtrace.junit5.JTraceScope;
import jtrace.junit5.MaxAllocated;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Exceeds its limits. */
@ExtendWith(JTraceExtension.class)
@TestMethodOrder(MethodOrderer.MethodName.class)
class ExceedingTest {
  private final Cart cart = new Cart();

  @Test
  @MaxAllocated("2 KiB")
  void allocates() {
    cart.print(100);
  }

  @Test
  @ExpectCalls(method = "sample.Cart::total", max = 1)
  void callsTooOften() {
    cart.add("tea", 450);
    cart.shipping();
    cart.shipping();
  }

  @Test
  @ExpectCalls(method = "sample.Cart::print", min = 1)
  void callsTooRarely() {}

  @Test
  @JTraceScope(Scope.DESCENDANTS)
  @ExpectCalls(method = "sample.Cart::page", max = 2)
  void inTheBackground() throws InterruptedException {
    Thread printer = new Thread(() -> cart.print(3));
    printer.start();
    printer.join();
  }
}
