import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A program with many loaded classes that can be attached to. Arguments: how many, and five
 * characters with which their names begin, such as "Batch" or "me/Ap"; more such pairs. "round N" calls
 * each of them N times and prints how many calls that were; "busy" begins to call all of them in a
 * thread, and "rest" ends it; "end" ends.
 */
public final class ManyClasses {
  private static final String NAME = "Batch00000000";
  private static final List<Runnable> all = new ArrayList<>();
  private static long calls;
  private static volatile boolean busy;
  private static Thread worker;

  private ManyClasses() {}

  /** Public: another loader's classes call it. */
  public static void count(int result) {
    if (result != 0) calls++;
  }

  private static final class Loader extends ClassLoader {
    Loader() {
      super(ManyClasses.class.getClassLoader());
    }

    Class<?> define(byte[] bytes) {
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < args.length; i += 2) {
      define(Integer.parseInt(args[i]), i + 1 < args.length ? args[i + 1] : "Batch");
    }
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
      System.out.println(answer(line.split(" ")));
    }
    System.out.println("ended");
    System.out.flush();
    System.exit(0);
  }

  private static void define(int count, String prefix) throws Exception {
    Loader loader = new Loader();
    String pattern = pattern();
    for (int i = 1; i <= count; i++) {
      String named = pattern.replace(NAME, String.format("%s%08d", prefix, i));
      Class<?> made = loader.define(named.getBytes(StandardCharsets.ISO_8859_1));
      var constructor = made.getDeclaredConstructor();
      constructor.setAccessible(true);
      all.add((Runnable) constructor.newInstance());
    }
  }

  private static String answer(String[] command) throws InterruptedException {
    switch (command[0]) {
      case "round":
        calls = 0;
        for (int i = Integer.parseInt(command[1]); i > 0; i--) all.forEach(Runnable::run);
        return Long.toString(calls);
      case "busy":
        busy = true;
        worker = new Thread(ManyClasses::work);
        worker.start();
        return "working";
      case "rest":
        busy = false;
        worker.join();
        return "resting";
      default:
        return "unknown";
    }
  }

  private static void work() {
    while (busy) all.forEach(Runnable::run);
  }

  private static String pattern() throws IOException {
    try (InputStream in = ManyClasses.class.getResourceAsStream("/" + NAME + ".class")) {
      return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }
}
