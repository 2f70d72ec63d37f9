/** A JVM that ends by an error of its own: it is sent SIGSEGV, as nobody but the kernel would. */
final class Crashes {
  private Crashes() {}

  public static void main(String[] args) throws Exception {
    System.out.println("up");
    System.out.flush();
    new ProcessBuilder("kill", "-SEGV", Long.toString(ProcessHandle.current().pid())).start();
    Thread.sleep(60_000);
  }
}
