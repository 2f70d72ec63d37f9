import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes to every page of a mapped file once, and prints how many page faults the kernel counted. */
final class Touch {
  static void touch(MappedByteBuffer pages, int count) {
    for (int page = 0; page < count; page++) pages.put(page * 4096, (byte) 1);
  }

  /** The faults of this thread: field 10 of its stat, the 8th after its name. */
  static long faults() throws IOException {
    String stat = Files.readString(Path.of("/proc/thread-self/stat"));
    return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
  }

  public static void main(String[] args) throws IOException {
    int count = Integer.parseInt(args[0]);
    File file = File.createTempFile("touch", ".bin");
    file.deleteOnExit();
    try (RandomAccessFile open = new RandomAccessFile(file, "rw")) {
      open.setLength(count * 4096L);
      MappedByteBuffer pages =
          open.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, count * 4096L);
      long before = faults();
      touch(pages, count);
      System.out.println(faults() - before);
    }
  }
}
