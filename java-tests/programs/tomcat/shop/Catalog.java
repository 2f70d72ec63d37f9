package shop;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Items that are searched one after the other. */
final class Catalog {
  static final int ITEMS = 2000;
  private final List<String> items = new ArrayList<>();

  Catalog() {
    for (int i = 0; i < ITEMS; i++) items.add("item " + i + " of the catalogue");
  }

  int count(String word) {
    int found = 0;
    for (String item : items) if (matches(item, word)) found++;
    return found;
  }

  // The culprit: the pattern is the same for all items.
  private static boolean matches(String item, String word) {
    String expression = "(" + word + "|" + word + "s)\\b[^0-9]*([0-9]{1,4}).*";
    return Pattern.compile(expression).matcher(item).matches();
  }
}
