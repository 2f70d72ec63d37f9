package sample;

import jtrace.junit5.ExpectCalls;
import jtrace.junit5.JTraceExtension;
import jtrace.junit5.MaxAllocated;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Expects calls of methods that do not exist, or cannot be counted. */
@ExtendWith(JTraceExtension.class)
@TestMethodOrder(MethodOrderer.MethodName.class)
class MistakenTest {
  private final Cart cart = new Cart();

  /** Nothing loads it but this test's annotation. */
  static final class NeverUsed {
    static void run() {}
  }

  interface NeverImplemented {
    void run();
  }

  @Test
  @ExpectCalls(method = "sample.Cart::totl", max = 3)
  void aMisspeltMethod() {
    cart.total();
  }

  @Test
  @ExpectCalls(method = "sample.Crat::total", max = 3)
  void bMisspeltClass() {}

  @Test
  @ExpectCalls(method = "sample.Cart::page(long)", max = 3)
  void cWrongParameter() {}

  @Test
  @ExpectCalls(method = "sample.Crat*::total", max = 3)
  void dPatternOfNoClass() {}

  @Test
  @ExpectCalls(method = "java.util.ArrayList::add", max = 3)
  void eOutOfScope() {
    cart.add("tea", 450);
  }

  @Test
  @ExpectCalls(method = "sample.MistakenTest$NeverUsed::run", max = 0)
  @ExpectCalls(method = "sample.MistakenTest$NeverImplemented::r*", max = 0)
  void fNotLoadedYet() {}

  @Test
  @MaxAllocated("1 MiB")
  void gAllocates() {
    cart.print(1);
  }
}
