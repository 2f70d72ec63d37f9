package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The agent's last message when the program removes its trace or makes it shorter. */
final class RemovedTraceTest {
  private static String lastLineOf(String how) {
    Jvm jvm = new Jvm().agent("");
    Jvm.Result run = jvm.run("SpoiledTrace", how);
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    List<String> lines = run.agentLines();
    return lines.get(lines.size() - 1);
  }

  @Test
  void aRemovedTraceIsNotWritten() {
    String line = lastLineOf("remove");
    assertTrue(line.startsWith("jtrace: warning: '"), line);
    assertTrue(line.contains("was removed while it was written: nothing of the recording is left"), line);
  }

  @Test
  void aShortenedTraceIsNotWritten() {
    String line = lastLineOf("shorten");
    assertTrue(line.startsWith("jtrace: warning: '"), line);
    assertTrue(line.contains("was made shorter while it was written"), line);
  }

  @Test
  void anUntouchedTraceIsWritten() {
    assertTrue(lastLineOf("leave").startsWith("jtrace: wrote "), "the usual message");
  }
}
