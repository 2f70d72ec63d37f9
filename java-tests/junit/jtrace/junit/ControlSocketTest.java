package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Clients of a JVM's control socket that are not {@code jtrace}. */
final class ControlSocketTest {
  private static final int REQUESTS = Setup.LONG ? 10_000 : 500;
  private static final int LONGEST_REQUEST = 64 * 1024;

  private static Path socketOf(LiveJvm jvm) throws IOException {
    Object user = Files.getAttribute(Path.of("/proc", jvm.pid()), "unix:uid");
    return Path.of("/tmp/.jtrace-" + user, jvm.pid());
  }

  private static SocketChannel connect(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(socket));
    return channel;
  }

  /** Random bytes, words that begin like requests, too many bytes, with or without an end. */
  private static byte[] malformed(Random random) {
    String[] verbs = {"start interval=", "start x=", "hook ", "mark ", "metrics --", "STOP", "stop\0"};
    byte[] bytes = new byte[random.nextInt(50) == 0 ? LONGEST_REQUEST + 10 : random.nextInt(400)];
    random.nextBytes(bytes);
    byte[] verb = verbs[random.nextInt(verbs.length)].getBytes();
    if (random.nextBoolean() && bytes.length > verb.length) {
      System.arraycopy(verb, 0, bytes, 0, verb.length);
    }
    if (random.nextBoolean() && bytes.length > 0) bytes[bytes.length - 1] = '\n';
    return bytes;
  }

  private static void send(Path socket, byte[] request, boolean reads) throws IOException {
    try (SocketChannel channel = connect(socket)) {
      ByteBuffer left = ByteBuffer.wrap(request);
      while (left.hasRemaining()) channel.write(left);
      channel.shutdownOutput();
      ByteBuffer answer = ByteBuffer.allocate(4096);
      while (reads && channel.read(answer.clear()) >= 0) {}
    } catch (IOException e) {
      // The agent may close the connection.
    }
  }

  @Test
  void malformedRequestsDoNotHarmTheProgram() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      AttachTest.checkWindow(jvm, "before.bin", 1000);
      Path socket = socketOf(jvm);
      Random random = new Random(4711);
      for (int i = 0; i < REQUESTS; i++) send(socket, malformed(random), i % 3 != 0);
      assertTrue(jvm.jtrace("status").contains("idle"));
      AttachTest.checkWindow(jvm, "after.bin", 2000);
      assertEquals(0, jvm.end());
    }
  }

  /** A client that never ends its request must not keep the recording from ending. */
  @Test
  void slowClientsDoNotDelayTheEndOfARecording() throws Exception {
    try (LiveJvm jvm = new LiveJvm()) {
      jvm.jtrace("start", "--probes", "out=timed.bin", "duration=1s");
      Path socket = socketOf(jvm);
      Thread slow = new Thread(() -> sendByteByByte(socket), "slow client");
      slow.setDaemon(true);
      slow.start();
      SocketChannel silent = connect(socket);
      LiveJvm.await(() -> jvm.errors().contains("jtrace: wrote "));
      assertTrue(jvm.jtrace("status").contains("idle"));
      silent.close();
      slow.interrupt();
      slow.join();
      assertEquals(0, jvm.end());
    }
  }

  private static void sendByteByByte(Path socket) {
    while (!Thread.currentThread().isInterrupted()) {
      try (SocketChannel channel = connect(socket)) {
        while (channel.write(ByteBuffer.wrap(new byte[] {'x'})) == 1) Thread.sleep(50);
      } catch (IOException e) {
        // Its time is over; continue with the next.
      } catch (InterruptedException e) {
        return;
      }
    }
  }
}
