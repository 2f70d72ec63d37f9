package jtrace.maven;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A rule of {@code --fail-on}: {@code calls>0@com.acme.**}. jtrace-post checks its form. Not called Rule:
 * Maven would make one of each element {@code <rule>} of a POM.
 */
final class CheckedRule {
  /** Of a message about a broken one: the routine, and its counts if the rule has an amount. */
  private static final Pattern CHANGE = Pattern.compile("(.*?)(?:: [0-9,]+ → [0-9,]+.*)?");

  private final String text;

  CheckedRule(String text) {
    this.text = text.strip();
  }

  String argument() {
    return "--fail-on=" + text;
  }

  /** Whether it is about one trace. */
  boolean isAbsolute() {
    return text.startsWith("coverage.");
  }

  boolean isOfTotal() {
    return text.startsWith("total.");
  }

  /** The metric of call paths that shows why it is broken; empty: the message names lines. */
  String metric(String metricOfRules) {
    String word = text.replaceFirst("^total\\.", "").replaceFirst("[<>@].*", "");
    switch (word) {
      case "calls":
      case "appeared":
      case "vanished":
        return "calls";
      case "ticks":
      case "time":
        return word;
      case "metric":
        return metricOfRules == null ? "" : metricOfRules;
      default:
        return "";
    }
  }

  boolean isIn(String message) {
    return message.startsWith(argument() + ": ");
  }

  /** The routine that a message about this rule names. */
  String routineIn(String message) {
    Matcher matcher = CHANGE.matcher(message.substring(argument().length() + 2));
    return matcher.matches() ? matcher.group(1) : "";
  }

  @Override
  public String toString() {
    return text;
  }
}
