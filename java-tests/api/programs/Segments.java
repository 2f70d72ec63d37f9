package programs;

import java.util.ArrayList;
import java.util.List;
import jtrace.api.JTrace;
import jtrace.api.Segment;

/**
 * Segments whose numbers are known. Each line printed is "name=count". The first argument is how many
 * "many" there are in each of two threads; a second one, "files", ends the file of the recording in
 * between, and prints the paths.
 */
@SuppressWarnings("try") // segments are not used in their blocks
public final class Segments {
  private static final int VIRTUAL = 300;
  private static volatile long sink;

  private Segments() {}

  private static void expect(String name, long count) {
    System.out.println(name + "=" + count);
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void nested() {
    for (int i = 0; i < 3; i++) {
      try (Segment outer = JTrace.segment("outer")) {
        for (int j = 0; j < 2; j++) {
          try (Segment inner = JTrace.segment("inner\t\u00e9")) {
            sink++;
          }
        }
        try (Segment again = JTrace.segment("outer")) {
          pause(5);
        }
      }
    }
    expect("outer", 6);
    expect("inner\u00e9", 6);
    try (Segment failing = JTrace.segment("failing")) {
      throw new IllegalArgumentException();
    } catch (IllegalArgumentException e) {
      expect("failing", 1);
    }
  }

  /** Of another thread, twice, around one that is still open, and never closed. */
  private static void misused() {
    Segment outer = JTrace.segment("out of turn");
    JTrace.segment("left to its outer one");
    VirtualThreads.join(start(outer::close));
    outer.close();
    outer.close();
    JTrace.segment("never closed");
    expect("out of turn", 1);
    expect("left to its outer one", 1);
    expect("never closed", 0);
  }

  private static Thread start(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    return thread;
  }

  private static void many(int times) {
    for (int i = 0; i < times; i++) {
      try (Segment segment = JTrace.segment("many")) {
        sink++;
      }
    }
  }

  /** Each leaves its carrier inside of its segments. */
  private static void virtual() {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < VIRTUAL; i++) {
      threads.add(VirtualThreads.start(() -> {
        try (Segment outer = JTrace.segment("virtual")) {
          pause(2);
          try (Segment inner = JTrace.segment("virtual inner")) {
            pause(2);
          }
        }
      }));
    }
    threads.forEach(VirtualThreads::join);
    expect("virtual", VIRTUAL);
    expect("virtual inner", VIRTUAL);
  }

  public static void main(String[] args) {
    int many = Integer.parseInt(args[0]);
    nested();
    if (args.length > 1) {
      many(many);
      Segment across = JTrace.segment("across");
      System.out.println("file=" + JTrace.dump().orElseThrow());
      across.close();
      expect("across", 1);
    }
    Thread other = start(() -> many(many));
    many(many);
    VirtualThreads.join(other);
    expect("many", (args.length > 1 ? 3L : 2L) * many);
    if (Runtime.version().feature() >= 21) virtual();
    misused();
    if (args.length > 1) System.out.println("file=" + JTrace.dump().orElseThrow());
  }
}
