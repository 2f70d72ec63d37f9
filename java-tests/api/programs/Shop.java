package programs;

import jtrace.api.JTrace;
import jtrace.api.Label;

/** Two tenants' requests, one thread each: the user guide labels them. */
@SuppressWarnings("try") // labels are not used in their blocks
public final class Shop {
  private static volatile long sold;

  private Shop() {}

  static void search(long articles) {
    for (long i = 0; i < articles; i++) sold ^= i * i;
  }

  static void order(long articles) {
    for (long i = 0; i < articles; i++) sold += i;
  }

  static void serve(String tenant, long articles) {
    try (Label label = JTrace.label("tenant", tenant)) {
      try (Label kind = JTrace.label("kind", "search")) {
        search(2 * articles);
      }
      order(articles);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    Thread acme = new Thread(() -> serve("acme", 100_000_000));
    Thread globex = new Thread(() -> serve("globex", 20_000_000));
    acme.start();
    globex.start();
    acme.join();
    globex.join();
    System.out.println("sold");
  }
}
