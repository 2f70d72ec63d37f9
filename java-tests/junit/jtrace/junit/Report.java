package jtrace.junit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A CSV report of jtrace-post, row by row. */
final class Report {
  private final List<Map<String, String>> rows;

  private Report(List<Map<String, String>> rows) {
    this.rows = rows;
  }

  static Report of(Path trace, String... options) {
    List<String> all = new ArrayList<>(List.of("--format=csv"));
    all.addAll(Arrays.asList(options));
    return new Report(parse(text(trace, all.toArray(String[]::new))));
  }

  static String text(Path trace, String... options) {
    List<String> command = new ArrayList<>();
    command.add(Setup.POST.toString());
    command.addAll(Arrays.asList(options));
    command.add(trace.toString());
    Jvm.Result result = Jvm.execute(command, trace);
    if (result.exit() != 0) {
      throw new AssertionError(command + " ended with " + result.exit() + ": " + result.err());
    }
    return result.out();
  }

  List<Map<String, String>> rows() {
    return rows;
  }

  /** Sum of a column over the rows of a routine; 0 if there is none. */
  long sum(String column, String name) {
    return rows.stream()
        .filter(row -> row.get("name").equals(name))
        .mapToLong(row -> Long.parseLong(row.get(column)))
        .sum();
  }

  long sum(String column) {
    return rows.stream().mapToLong(row -> Long.parseLong(row.get(column))).sum();
  }

  static List<Map<String, String>> parse(String text) {
    List<List<String>> records = records(text);
    List<Map<String, String>> rows = new ArrayList<>();
    for (List<String> record : records.subList(1, records.size())) {
      Map<String, String> row = new LinkedHashMap<>();
      for (int i = 0; i < record.size(); i++) row.put(records.get(0).get(i), record.get(i));
      rows.add(row);
    }
    return rows;
  }

  /** RFC 4180, as far as jtrace-post uses it: quotes around fields, doubled inside them. */
  private static List<List<String>> records(String text) {
    List<List<String>> records = new ArrayList<>();
    List<String> record = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted) {
        if (c != '"') {
          field.append(c);
        } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
          field.append('"');
          i++;
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',' || c == '\n') {
        record.add(field.toString());
        field.setLength(0);
        if (c == '\n') {
          records.add(record);
          record = new ArrayList<>();
        }
      } else if (c != '\r') {
        field.append(c);
      }
    }
    return records;
  }
}
