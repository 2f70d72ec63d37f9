import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * A program whose call paths never end: makes classes, runs them and drops them. Arguments: number of
 * classes (0: no limit), seconds. Prints the calls of all its methods, counted by itself.
 */
public final class GeneratedPaths {
  private static final int DEPTH = 6;
  private static final String NAME = "Generated00000000";

  public static long calls;

  private GeneratedPaths() {}

  private static final class Loader extends ClassLoader {
    Loader() {
      super(GeneratedPaths.class.getClassLoader());
      calls++;
    }

    Class<?> define(byte[] bytes) {
      calls++;
      return defineClass(null, bytes, 0, bytes.length);
    }
  }

  public static void main(String[] args) throws Exception {
    calls++;
    long classes = Long.parseLong(args[0]);
    long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
    byte[] pattern = pattern();
    Random random = new Random(1);
    for (int i = 1; (classes == 0 || i <= classes) && System.nanoTime() < end; i++) {
      Method method = new Loader().define(numbered(pattern, i)).getDeclaredMethod("a", int.class, int.class);
      method.setAccessible(true);
      for (int run = 0; run < 3; run++) method.invoke(null, DEPTH, random.nextInt());
    }
    System.out.println("TOTAL " + calls);
  }

  private static byte[] pattern() throws IOException {
    calls++;
    try (InputStream in = GeneratedPaths.class.getResourceAsStream("/" + NAME + ".class")) {
      return in.readAllBytes();
    }
  }

  /** The class file with another name of the same length. */
  private static byte[] numbered(byte[] pattern, int number) {
    calls++;
    byte[] bytes = pattern.clone();
    byte[] from = NAME.getBytes(StandardCharsets.US_ASCII);
    byte[] to = String.format("Generated%08d", number).getBytes(StandardCharsets.US_ASCII);
    for (int at = 0; at + from.length <= bytes.length; at++) {
      if (java.util.Arrays.equals(bytes, at, at + from.length, from, 0, from.length)) {
        System.arraycopy(to, 0, bytes, at, to.length);
      }
    }
    return bytes;
  }
}
