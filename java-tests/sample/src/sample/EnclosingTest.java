package sample;

import java.util.stream.Stream;
import jtrace.junit5.ExpectCalls;
import jtrace.junit5.JTraceExtension;
import jtrace.junit5.MaxAllocated;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** Limits of a class also hold for its nested classes. */
@ExtendWith(JTraceExtension.class)
@MaxAllocated("0")
class EnclosingTest {
  private static byte[] last;

  @Nested
  class Inner {
    @Test
    void allocates() {
      last = new byte[1000];
    }

    @Test
    @MaxAllocated("2 KiB")
    void mayAllocate() {
      last = new byte[1000];
    }
  }

  @RepeatedTest(2)
  void repeated() {
    last = new byte[1000];
  }

  @TestFactory
  @ExpectCalls(method = "sample.Cart::total", max = 0)
  Stream<DynamicTest> dynamic() {
    return Stream.of();
  }
}
