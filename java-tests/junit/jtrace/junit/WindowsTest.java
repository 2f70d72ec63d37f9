package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Windows of descendants that are virtual threads. */
final class WindowsTest {
  @Test
  void virtualDescendantsBelongToTheFamily() {
    assumeTrue(Setup.JDK_MAJOR >= 21, "this JDK has no virtual threads");
    for (String flag : List.of("-Xmixed", "-Djdk.virtualThreadScheduler.parallelism=1", "-Xint")) {
      Jvm.Result run = ApiTest.jvm().arguments(flag).agent("metrics=alloc.bytes")
          .run("programs.VirtualFamilies", "20000");
      assertEquals(
          Map.ofEntries(
              Map.entry("own", "1 exact"),
              Map.entry("family", "408 exact"),
              Map.entry("process", "458 exact"),
              Map.entry("total", "true"),
              Map.entry("paths", "true"),
              Map.entry("closed", "true"),
              Map.entry("of a virtual thread", "10 exact"),
              Map.entry("its total", "true"),
              Map.entry("own clock", "UnsupportedOperationException"),
              Map.entry("measured", "true IllegalArgumentException"),
              Map.entry("clock of an ended one", "UnsupportedOperationException"),
              Map.entry("many", "20000"),
              Map.entry("total of many", "true")),
          ApiTest.printed(run), flag);
      assertEquals(List.of(), run.foreignErrors());
    }
  }
}
