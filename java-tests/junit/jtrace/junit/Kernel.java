package jtrace.junit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * What the kernel allows here, which programs that are not jtrace find out: so a test is skipped
 * only for what is missing, and never because jtrace failed.
 */
final class Kernel {
  static final int EPERM = 1;
  static final int ENOLCK = 37;

  private static final Map<List<String>, Jvm.Result> TRIALS = new ConcurrentHashMap<>();

  private Kernel() {}

  private static Jvm.Result trial(List<String> command) {
    return TRIALS.computeIfAbsent(command, it -> Jvm.execute(it, null));
  }

  private static String script(String name) {
    return Setup.SOURCE.resolve("java-tests").resolve(name).toString();
  }

  /** `what`: an event or another word of kernel_allows.py. */
  static boolean allows(String what) {
    return trial(List.of("python3", script("kernel_allows.py"), what)).exit() == 0;
  }

  static void assumeAllows(String what) {
    Jvm.Result trial = trial(List.of("python3", script("kernel_allows.py"), what));
    assumeTrue(trial.exit() == 0, trial.err());
  }

  /** What stands before a command so that a system call fails in it. */
  static List<String> without(String call, int error) {
    List<String> words =
        List.of("python3", script("without_syscall.py"), call, Integer.toString(error));
    Jvm.Result trial = trial(Stream.concat(words.stream(), Stream.of("true")).toList());
    assumeTrue(trial.exit() == 0, "not verified: " + trial.err());
    return words;
  }
}
