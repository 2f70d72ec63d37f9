package jtrace.api;

import java.util.List;

/**
 * A call path and what was spent there, callees not included.
 *
 * @param methods the innermost last; empty: outside of methods with probes
 */
public record CallPath(long value, List<String> methods) {
  /** Of a line "value, method, method, …" with tabs between them. */
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
