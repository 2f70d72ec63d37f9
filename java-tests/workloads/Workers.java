import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Threads that wait, each in its own way, until the program ends. */
final class Workers {
  interface Body {
    void run() throws IOException, InterruptedException;
  }

  static volatile boolean over;
  private static final List<Thread> ALL = new ArrayList<>();

  private Workers() {}

  static void start(String name, Body body) {
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } catch (IOException | InterruptedException e) {
                if (!over) throw new IllegalStateException(e);
              }
            },
            name);
    thread.start();
    ALL.add(thread);
  }

  /**
   * Returns when all threads except `restless` (prefixes of names) wait, and a sampler had time to
   * see it, even if other programs use the processors for half a second.
   */
  static void settle(String... restless) throws IOException, InterruptedException {
    for (int waiting = 0; waiting < 10; Thread.sleep(10)) {
      waiting = allWait(List.of(restless)) ? waiting + 1 : 0;
    }
    Thread.sleep(700);
  }

  private static boolean allWait(List<String> restless) throws IOException {
    int waiting = 0;
    int expected = 0;
    for (Thread thread : ALL) {
      if (restless.stream().noneMatch(thread.getName()::startsWith)) expected++;
    }
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path task : tasks) {
        String stat = Files.readString(task.resolve("stat"));
        String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
        if (restless.stream().anyMatch(name::startsWith)) continue;
        if (ALL.stream().noneMatch(thread -> thread.getName().equals(name))) continue;
        if (stat.charAt(stat.lastIndexOf(')') + 2) == 'S') waiting++;
      }
    } catch (NoSuchFileException e) {
      return false; // a thread of the JVM ended meanwhile
    }
    return waiting == expected;
  }

  /** Interrupts those that still wait; {@link #over} is set. */
  static void end() throws InterruptedException {
    for (Thread thread : ALL) thread.interrupt();
    for (Thread thread : ALL) thread.join();
  }
}
