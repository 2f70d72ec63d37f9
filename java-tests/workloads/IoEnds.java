import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Threads that write and read a known number of bytes, and end: worker i writes (i + 1) * 100,000
 * bytes. Main writes as its last act, 10,240,000 bytes, and ends, or exits if there is a second
 * argument. Arguments: number of workers. Before that it prints what the process has read and
 * written so far.
 */
final class IoEnds {
  private static final int CHUNK = 10_000;

  private static void write(Path file, int chunks) {
    byte[] bytes = new byte[CHUNK];
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      for (int i = 0; i < chunks; i++) out.write(bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void copy(int chunks) {
    try {
      Path file = Files.createTempFile("io", ".bin");
      write(file, chunks);
      byte[] bytes = new byte[CHUNK];
      try (FileInputStream in = new FileInputStream(file.toFile())) {
        for (int i = 0; i < chunks; i++) in.read(bytes);
      }
      Files.delete(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  public static void main(String[] args) throws Exception {
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[0]); i++) {
      int chunks = 10 * (i + 1);
      Thread worker = new Thread(() -> copy(chunks), "worker-" + i);
      workers.add(worker);
      worker.start();
    }
    for (Thread worker : workers) worker.join();
    for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
      if (line.startsWith("rchar") || line.startsWith("wchar")) System.out.println(line);
    }
    System.out.flush();
    write(Path.of("/dev/null"), 1024);
    if (args.length > 1) System.exit(0);
  }
}
