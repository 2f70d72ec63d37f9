import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Threads of a program that wait, each in its own way, until it is over. */
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

  /** Interrupts those that still wait; {@link #over} is set. */
  static void end() throws InterruptedException {
    for (Thread thread : ALL) thread.interrupt();
    for (Thread thread : ALL) thread.join();
  }
}
