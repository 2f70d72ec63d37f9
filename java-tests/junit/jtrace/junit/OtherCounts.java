package jtrace.junit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The counts of the counting agent and of jtrace, with names in one form. jtrace distinguishes
 * methods of one name and the same simple parameter types by their results, packages or loaders;
 * here they are added up, on both sides.
 */
final class OtherCounts {
  /** The caller of a thread's first call. */
  private static final String NOBODY = "-";

  private OtherCounts() {}

  /** Lines "3 a/B.m([ILjava/util/List;)V". */
  static Map<String, Long> methods(Path file) throws IOException {
    Map<String, Long> counts = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split(" ");
      if (words.length == 2) add(counts, name(words[1]), words[0]);
    }
    return counts;
  }

  /** Lines "3 a/B.m()V a/C.n(I)I": the calls of the latter by the former. */
  static Map<String, Long> arcs(Path file) throws IOException {
    Map<String, Long> counts = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split(" ");
      if (words.length == 3) add(counts, arc(name(words[1]), name(words[2])), words[0]);
    }
    return counts;
  }

  static Map<String, Long> ofFlat(Report flat) {
    Map<String, Long> counts = new TreeMap<>();
    for (Map<String, String> row : flat.rows()) {
      String name = ofReport(row.get("name"));
      if (!name.equals(NOBODY)) add(counts, name, row.get("calls"));
    }
    return counts;
  }

  static Map<String, Long> ofArcFlow(Report arcFlow) {
    Map<String, Long> counts = new TreeMap<>();
    for (Map<String, String> row : arcFlow.rows()) {
      String callee = ofReport(row.get("self"));
      boolean isCaller = row.get("row").equals("parent") || row.get("row").equals("rparent");
      if (!isCaller || callee.equals(NOBODY)) continue;
      add(counts, arc(ofReport(row.get("name")), callee), row.get("calls"));
    }
    return counts;
  }

  private static String arc(String caller, String callee) {
    return caller + " > " + callee;
  }

  private static void add(Map<String, Long> counts, String name, String calls) {
    if (!calls.isEmpty() && !calls.equals("0")) counts.merge(name, Long.parseLong(calls), Long::sum);
  }

  /** a/B.m([ILjava/util/List;)V → a.B.m(int[],List) */
  private static String name(String method) {
    int open = method.indexOf('(');
    if (open < 0) return NOBODY;
    return method.substring(0, open).replace('/', '.') + parameters(method.substring(open));
  }

  /** The name of a method; a name without parameters is a thread or a marker. */
  private static String ofReport(String name) {
    int open = name.indexOf('(');
    if (open < 0) return NOBODY;
    List<String> types = new ArrayList<>();
    for (String type : name.substring(open + 1, name.lastIndexOf(')')).split(",")) {
      types.add(simple(type));
    }
    return name.substring(0, open) + "(" + String.join(",", types) + ")";
  }

  private static final Map<Character, String> PRIMITIVES = new HashMap<>();

  static {
    String letters = "BCDFIJSZ";
    String[] names = {"byte", "char", "double", "float", "int", "long", "short", "boolean"};
    for (int i = 0; i < names.length; i++) PRIMITIVES.put(letters.charAt(i), names[i]);
  }

  private static String parameters(String descriptor) {
    List<String> types = new ArrayList<>();
    for (int i = 1; descriptor.charAt(i) != ')'; i++) {
      int dimensions = 0;
      for (; descriptor.charAt(i) == '['; i++) ++dimensions;
      String type = PRIMITIVES.get(descriptor.charAt(i));
      if (type == null) {
        int end = descriptor.indexOf(';', i);
        type = simple(descriptor.substring(i + 1, end).replace('/', '.'));
        i = end;
      }
      types.add(type + "[]".repeat(dimensions));
    }
    return "(" + String.join(",", types) + ")";
  }

  private static String simple(String type) {
    return type.substring(type.lastIndexOf('.') + 1);
  }
}
