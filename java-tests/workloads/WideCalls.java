import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * One method that calls very many others, so that one node of its call tree has as many children.
 * Arguments: their number, and how often each is called.
 */
public final class WideCalls {
  private static final String NAME = "Wide00000000";

  private WideCalls() {}

  private static final class Loader extends ClassLoader {
    Loader() {
      super(WideCalls.class.getClassLoader());
    }

    Class<?> define(byte[] bytes) {
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  public static void main(String[] args) throws Exception {
    Runnable[] callees = new Runnable[Integer.parseInt(args[0])];
    String pattern = pattern();
    Loader loader = new Loader();
    for (int i = 0; i < callees.length; i++) {
      // The class file with another name of the same length.
      String bytes = pattern.replace(NAME, String.format("Wide%08d", i + 1));
      callees[i] = (Runnable) loader.define(bytes.getBytes(StandardCharsets.ISO_8859_1))
          .getConstructor().newInstance();
    }
    for (int time = Integer.parseInt(args[1]); time > 0; time--) callAll(callees, time);
  }

  private static String pattern() throws IOException {
    try (InputStream in = WideCalls.class.getResourceAsStream("/" + NAME + ".class")) {
      return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  /** More of them each time, so that the number of children grows in small and big steps. */
  private static void callAll(Runnable[] callees, int left) {
    for (int i = 0; i < callees.length >> 2 * (left - 1); i++) callees[i].run();
  }
}
