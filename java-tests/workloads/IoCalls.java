import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.EventSettings;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads and writes a known number of bytes in each way that the JDK has, while Flight Recorder
 * counts the same. Prints the file, the server's port, and Flight Recorder's rows "KIND NAME CALLS
 * BYTES" of both. Argument: how often.
 */
public final class IoCalls {
  private static final String[] EVENTS = {
    "jdk.FileRead", "jdk.FileWrite", "jdk.SocketRead", "jdk.SocketWrite"
  };

  private IoCalls() {}

  static void streams(File file) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file)) {
      out.write(new byte[1000]);
      out.write(7);
    }
    try (FileInputStream in = new FileInputStream(file)) {
      in.read();
      in.read(new byte[600]);
      in.read(new byte[600]);
    }
  }

  static void random(File file) throws IOException {
    try (RandomAccessFile both = new RandomAccessFile(file, "rw")) {
      both.write(new byte[50]);
      both.write(3);
      both.read();
      both.read(new byte[60]);
    }
  }

  static void channel(Path file) throws IOException {
    try (FileChannel both =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      both.write(ByteBuffer.allocateDirect(70));
      both.write(ByteBuffer.allocate(333), 5000);
      both.read(ByteBuffer.allocate(444));
      both.read(ByteBuffer.allocate(555), 0);
      both.write(new ByteBuffer[] {ByteBuffer.allocate(10), ByteBuffer.allocate(20)});
    }
  }

  static void serve(ServerSocket server, int times) {
    try {
      for (int i = 0; i < times; i++) {
        try (Socket client = server.accept()) {
          client.getInputStream().readNBytes(5000);
          client.getOutputStream().write(new byte[100]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void ask(int port) throws IOException {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.getOutputStream().write(new byte[5000]);
      client.getInputStream().readNBytes(100);
    }
  }

  static void fail(File file) {
    FileInputStream in;
    try (FileInputStream opened = new FileInputStream(file)) {
      in = opened;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try {
      in.read(new byte[10]);
      throw new AssertionError("read a closed file");
    } catch (IOException expected) {
      System.out.println("failed " + expected.getMessage());
    }
  }

  private static void all(File file, int times) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread thread = new Thread(() -> serve(server, times), "server");
      thread.start();
      System.out.println("port " + server.getLocalPort());
      for (int i = 0; i < times; i++) {
        streams(file);
        random(file);
        channel(file.toPath());
        ask(server.getLocalPort());
      }
      thread.join();
    }
    fail(file);
  }

  private static String row(RecordedEvent event) {
    String type = event.getEventType().getName();
    String kind = type.endsWith("Read") ? "read " : "write ";
    return type.startsWith("jdk.File")
        ? kind + event.getString("path")
        : kind + event.getString("address") + ":" + event.getInt("port");
  }

  public static void main(String[] args) throws Exception {
    File file = File.createTempFile("io-calls", ".bin");
    System.out.println("file " + file);
    Path flight = Path.of(file + ".jfr");
    try (Recording recording = new Recording()) {
      for (String event : EVENTS) {
        EventSettings settings = recording.enable(event).withThreshold(Duration.ZERO);
        settings.with("throttle", "off");
      }
      recording.start();
      all(file, Integer.parseInt(args[0]));
      recording.stop();
      recording.dump(flight);
    }
    Map<String, long[]> rows = new TreeMap<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(flight)) {
      long bytes = event.getLong(event.hasField("bytesRead") ? "bytesRead" : "bytesWritten");
      // It also has reads of no byte, which call nothing.
      if (bytes <= 0) continue;
      long[] sums = rows.computeIfAbsent(row(event), name -> new long[2]);
      sums[0]++;
      sums[1] += bytes;
    }
    rows.forEach((name, sums) -> System.out.println(name + " " + sums[0] + " " + sums[1]));
    file.delete();
    flight.toFile().delete();
  }
}
