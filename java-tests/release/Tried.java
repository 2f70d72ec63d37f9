import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/** Does what its words say, in turn: what a release is tried with (scripts/release/try.sh). */
public final class Tried {
  private static int fib(int n) {
    return n < 2
        ? n
        : fib(n - 1) + fib(n - 2);
  }

  /** One call of read0 each. */
  private static void reads(int times) throws IOException {
    try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
      for (int i = 0; i < times; i++) zeros.read();
    }
  }

  /** Processor time of the kernel, which fills these bytes. */
  private static void inKernel(int milliseconds) throws IOException {
    byte[] bytes = new byte[1 << 20];
    long end = System.nanoTime() + milliseconds * 1_000_000L;
    try (FileInputStream random = new FileInputStream("/dev/urandom")) {
      while (System.nanoTime() < end) random.read(bytes);
    }
  }

  private static void until(String file) throws InterruptedException {
    System.out.println("ready");
    for (int i = 0; i < 6000 && !new File(file).exists(); i++) {
      fib(12);
      Thread.sleep(10);
    }
  }

  public static void main(String[] words) throws Exception {
    for (int i = 0; i < words.length; i += 2) {
      switch (words[i]) {
        case "fib": fib(Integer.parseInt(words[i + 1])); break;
        case "reads": reads(Integer.parseInt(words[i + 1])); break;
        case "kernel": inKernel(Integer.parseInt(words[i + 1])); break;
        case "sleep": Thread.sleep(Integer.parseInt(words[i + 1])); break;
        case "until": until(words[i + 1]); break;
        default: throw new IllegalArgumentException(words[i]);
      }
    }
  }
}
