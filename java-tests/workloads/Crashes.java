/** A JVM that crashes: it is sent SIGSEGV in a way that only the kernel uses. */
final class Crashes {
  private Crashes() {}

  public static void main(String[] args) throws Exception {
    System.out.println("up");
    System.out.flush();
    new ProcessBuilder("kill", "-SEGV", Long.toString(ProcessHandle.current().pid())).start();
    Thread.sleep(60_000);
  }
}
