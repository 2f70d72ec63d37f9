/** Methods that wait while another thread allocates. Known numbers of `new`. */
final class Meanwhile {
  static Object kept;

  static void make(int count) {
    for (int i = 0; i < count; i++) kept = new Object();
  }

  static void other() {
    make(1000);
  }

  static void waitFor(Thread thread) throws InterruptedException {
    make(7);
    thread.start();
    thread.join();
  }

  static void both(Thread one, Thread two) throws InterruptedException {
    one.start();
    two.start();
    make(50_000);
    one.join();
    two.join();
  }

  static void alone() {
    make(5);
  }

  public static void main(String[] args) throws InterruptedException {
    Thread worker = new Thread(Meanwhile::other);
    waitFor(worker);
    alone();
    both(new Thread(() -> make(30_000)), new Thread(() -> make(40_000)));
  }
}
