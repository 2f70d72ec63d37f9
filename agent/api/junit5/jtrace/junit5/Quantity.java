package jtrace.junit5;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Quantities as people write and read them. */
final class Quantity {
  private static final Pattern TEXT = Pattern.compile("\\s*([0-9]+(?:\\.[0-9]+)?)\\s*([A-Za-zµ]*)\\s*");

  private static final Map<String, Long> BYTES =
      Map.of(
          "", 1L, "B", 1L, "kB", 1_000L, "KiB", 1L << 10, "MB", 1_000_000L, "MiB", 1L << 20,
          "GB", 1_000_000_000L, "GiB", 1L << 30);
  private static final Map<String, Long> NANOS =
      Map.of("ns", 1L, "us", 1_000L, "µs", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);

  private Quantity() {}

  static long bytes(String text) {
    return parse(text, BYTES, "500 B, 2 KiB, 1.5 MB");
  }

  static long nanos(String text) {
    return parse(text, NANOS, "200 us, 5 ms, 1.5 s");
  }

  private static long parse(String text, Map<String, Long> units, String examples) {
    Matcher matcher = TEXT.matcher(text);
    Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
    if (unit == null) {
      throw new IllegalArgumentException("'" + text + "' is none of: " + examples);
    }
    return new BigDecimal(matcher.group(1))
        .multiply(BigDecimal.valueOf(unit))
        .setScale(0, RoundingMode.FLOOR)
        .longValueExact();
  }

  /** {@code 101,600 B}, {@code 1.25 ms}, {@code 3}. */
  static String text(long value, String unit) {
    if (unit.equals("ns") && value >= 1_000_000) {
      return String.format(Locale.ROOT, "%,.2f ms", value / 1e6);
    }
    String number = String.format(Locale.ROOT, "%,d", value);
    return unit.isEmpty() ? number : number + " " + unit;
  }
}
