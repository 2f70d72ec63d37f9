package jtrace.api;

import java.util.Locale;

/** Numbers for people. */
final class Quantities {
  private Quantities() {}

  /** {@code 101,600 B}, {@code 1.25 ms}, {@code 100}. */
  static String text(long value, String unit) {
    if (unit.equals("ns")) return time(value);
    String number = String.format(Locale.ROOT, "%,d", value);
    return unit.isEmpty() ? number : number + " " + unit;
  }

  private static String time(long nanos) {
    String[] units = {"ns", "us", "ms", "s"};
    double value = nanos;
    int i = 0;
    while (Math.abs(value) >= 1000 && i < units.length - 1) {
      value /= 1000;
      i++;
    }
    return i == 0 ? nanos + " ns" : String.format(Locale.ROOT, "%.2f %s", value, units[i]);
  }
}
