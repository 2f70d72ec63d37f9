package sample;

import java.util.ArrayList;
import java.util.List;

/** The class under test. */
final class Cart {
  private final List<Item> items = new ArrayList<>(16);

  void add(String name, long cents) {
    items.add(new Item(name, cents));
  }

  long total() {
    long sum = 0;
    for (int i = 0; i < items.size(); i++) sum += items.get(i).cents();
    return sum;
  }

  /** Costs of shipping depend on the total, which is added up once too often. */
  long shipping() {
    return total() > 5_000 || total() == 0 ? 0 : 495;
  }

  /** A page each. */
  void print(int pages) {
    for (int i = 0; i < pages; i++) page(1000);
  }

  private static byte[] last;

  private static void page(int bytes) {
    last = new byte[bytes];
  }

  record Item(String name, long cents) {}
}
