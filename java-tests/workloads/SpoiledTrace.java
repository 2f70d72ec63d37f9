import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Removes or empties its own trace. Argument: remove, shorten or leave. */
public final class SpoiledTrace {
  private SpoiledTrace() {}

  /** The value of out= on the JVM's command line. */
  private static Path trace() throws Exception {
    for (String argument : Files.readString(Path.of("/proc/self/cmdline")).split("\0")) {
      int out = argument.indexOf("=out=");
      if (argument.startsWith("-agentpath:") && out >= 0) return Path.of(argument.substring(out + 5));
    }
    throw new IllegalStateException("no agent");
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("remove")) Files.delete(trace());
    if (args[0].equals("shorten")) {
      try (FileChannel file = FileChannel.open(trace(), StandardOpenOption.WRITE)) {
        file.truncate(0);
      }
    }
  }
}
