package sample;

import jtrace.junit5.JTraceExtension;
import jtrace.junit5.MaxAllocated;
import jtrace.junit5.MaxCpu;
import jtrace.junit5.Warmup;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Exceeds limits in its first run and later. */
@ExtendWith(JTraceExtension.class)
class ComputingTest {
  private final Cart cart = new Cart();

  @RepeatedTest(2)
  @MaxCpu("1 us")
  void computes() {
    cart.shipping();
    if (Primes.sum(200_000) == 0) throw new AssertionError();
  }

  @Test
  @Warmup(1)
  @MaxAllocated("0")
  void allocatesWhenWarm() {
    cart.print(1);
  }
}
