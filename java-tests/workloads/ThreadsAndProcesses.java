import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Starts and ends threads, processes (in each way that the JDK has), and collections. */
public final class ThreadsAndProcesses {
  private static final int ROUNDS = 4;
  private static final int THREADS = 60; // so many stacks that the C library frees some

  private ThreadsAndProcesses() {}

  private static void threads() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  Thread.sleep(5);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) thread.join();
  }

  private static void process(String mechanism) throws IOException, InterruptedException {
    System.setProperty("jdk.lang.Process.launchMechanism", mechanism);
    Process process =
        new ProcessBuilder("/bin/sh", "-c", "echo hi; exit 3").redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes());
    int status = process.waitFor();
    if (status != 3 || !out.equals("hi\n")) {
      System.out.println(mechanism + ": " + status + " " + out);
    }
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      threads();
      for (String mechanism : new String[] {"POSIX_SPAWN", "VFORK", "FORK"}) process(mechanism);
      System.gc();
    }
    System.out.println("done");
  }
}
