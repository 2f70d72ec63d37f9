package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Methods that ran and methods that never ran are together all methods that reflection lists. */
final class NeverTest {
  @Test
  void reportListsEveryMethodThatNeverRan() throws Exception {
    Jvm.Result run = new Jvm().agent("mode=events").run("cases.ThrowingTasks");
    assertEquals(0, run.exit(), run.err());
    Set<String> classes =
        run.report("--report=classes").rows().stream()
            .filter(row -> Long.parseLong(row.get("counted")) > 0)
            .map(row -> row.get("name"))
            .collect(Collectors.toSet());
    assertTrue(classes.contains("cases.ThrowingTasks"), classes.toString());
    Set<String> never = names(run.report("--report=never"));
    Set<String> ran = names(run.report("--report=flat", "--scope=app"));
    ran.removeIf(name -> classes.stream().noneMatch(owner -> name.startsWith(owner + ".")));
    assertFalse(never.isEmpty());
    assertFalse(ran.isEmpty());
    Set<String> known = new TreeSet<>(never);
    known.addAll(ran);
    assertEquals(declared(classes), known);
    assertTrue(never.stream().noneMatch(ran::contains), never + " and " + ran);
  }

  private static Set<String> names(Report report) {
    return report.rows().stream()
        .map(row -> row.get("name").replaceAll("\\(.*", ""))
        .filter(name -> name.contains(".") && !name.endsWith(".<clinit>"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> declared(Set<String> classes) throws Exception {
    Set<String> names = new TreeSet<>();
    URL[] path = {Setup.CASES.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, null)) {
      for (String name : classes) {
        Class<?> type = Class.forName(name, /* initialize= */ false, loader);
        for (Method method : type.getDeclaredMethods()) {
          int flags = method.getModifiers();
          if (Modifier.isAbstract(flags) || Modifier.isNative(flags)) continue;
          names.add(name + "." + method.getName());
        }
        if (type.getDeclaredConstructors().length > 0) names.add(name + ".<init>");
      }
    }
    return names;
  }
}
