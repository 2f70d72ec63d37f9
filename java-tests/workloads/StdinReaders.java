import java.io.BufferedReader;
import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Scanner;

/**
 * Reads one line of the standard input, in the way that the argument names, and then a file.
 *
 * <p>{@code OWN NANOS} is what the program measured around the read.
 */
public final class StdinReaders {
  private StdinReaders() {}

  private static String stream() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = System.in.read(); c != '\n'; c = System.in.read()) {
      line.append((char) c);
    }
    return line.toString();
  }

  private static String scanner() {
    return new Scanner(System.in).nextLine();
  }

  private static String reader() throws IOException {
    return new BufferedReader(new InputStreamReader(System.in)).readLine();
  }

  private static String console() {
    Console console = System.console();
    return console.readLine();
  }

  private static String descriptor() throws IOException {
    byte[] bytes = new byte[100];
    int count = new FileInputStream(FileDescriptor.in).read(bytes);
    return new String(bytes, 0, count).trim();
  }

  private static String channel() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(100);
    new FileInputStream(FileDescriptor.in).getChannel().read(bytes);
    return new String(bytes.array(), 0, bytes.position()).trim();
  }

  private static String wrapped() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(100);
    Channels.newChannel(System.in).read(bytes);
    return new String(bytes.array(), 0, bytes.position()).trim();
  }

  private static String read(String way) throws IOException {
    switch (way) {
      case "stream":
        return stream();
      case "scanner":
        return scanner();
      case "reader":
        return reader();
      case "console":
        return console();
      case "descriptor":
        return descriptor();
      case "channel":
        return channel();
      default:
        return wrapped();
    }
  }

  /** A read of another descriptor. */
  private static int readFile(String file) throws IOException {
    try (FileInputStream in = new FileInputStream(file)) {
      return in.read(new byte[10]);
    }
  }

  public static void main(String[] args) throws Exception {
    Path file = Files.createTempFile("stdin-readers", ".txt");
    Files.writeString(file, "0123456789");
    long begin = System.nanoTime();
    String line = read(args[0]);
    long took = System.nanoTime() - begin;
    System.out.println("READ " + line);
    System.out.println("OWN " + took);
    System.out.println("FILE " + readFile(file.toString()));
    Files.delete(file);
  }
}
