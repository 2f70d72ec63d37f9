package shop;

import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;

/** Called by the style sheet for each day, which is a number since 1970. */
public final class Days {
  private static final long MILLISECONDS = 86_400_000;

  private Days() {}

  // The culprit: the format is the same for all days.
  public static String of(double day) {
    return new SimpleDateFormat("yyyy-MM-dd", Locale.ENGLISH)
        .format(new Date((long) day * MILLISECONDS));
  }
}
