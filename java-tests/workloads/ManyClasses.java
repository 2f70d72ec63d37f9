import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A program with many loaded classes that can be attached to. Argument: how many. "round N" calls
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
    Loader loader = new Loader();
    String pattern = pattern();
    for (int i = 1; i <= Integer.parseInt(args[0]); i++) {
      String named = pattern.replace(NAME, String.format("Batch%08d", i));
      Class<?> made = loader.define(named.getBytes(StandardCharsets.ISO_8859_1));
      var constructor = made.getDeclaredConstructor();
      constructor.setAccessible(true);
      all.add((Runnable) constructor.newInstance());
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
