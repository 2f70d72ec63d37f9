package jtrace.api;

import java.util.List;

/**
 * A call path and its value, callees not included.
 *
 * @param methods the innermost last; empty: outside of methods with probes
 */
public record CallPath(long value, List<String> methods) {
  /** Parses a line "value, method, method, …", separated by tabs. */
  static CallPath of(String line) {
    String[] fields = line.split("\t");
    return new CallPath(
        Long.parseLong(fields[0]), List.of(fields).subList(1, fields.length));
  }

  @Override
  public String toString() {
    return methods.isEmpty() ? "outside of methods with probes" : String.join(" > ", methods);
  }
}
