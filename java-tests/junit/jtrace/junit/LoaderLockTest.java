package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Under an allocator that unwinds the stack, as heap profilers do, memory that is allocated while
 * the loader's lock is held is a deadlock. native-tests/support/loader_lock.cc ends the JVM there.
 */
final class LoaderLockTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "mode=samples",
        "mode=merged,blocks=on",
        "mode=samples,timer=wall,hook=libc.so.6!write;libc.so.6!nanosleep:time"
      })
  void nothingIsAllocatedWhileItIsHeld(String options) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("env", "LD_PRELOAD=" + Setup.property("jtrace.loader.lock")));
    command.add(Setup.java());
    command.add("-agentpath:" + Setup.AGENT + "=out=/dev/null," + options);
    command.addAll(List.of("-cp", Setup.classpath(), "ThreadsAndProcesses"));
    Jvm.Result run = Jvm.execute(command, null);
    assertEquals(List.of(), run.foreignErrors());
    assertEquals("done", run.out().strip());
    assertEquals(0, run.exit(), run.err());
  }
}
