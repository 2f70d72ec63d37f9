package jtrace.junit5;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jtrace.api.JTrace;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;

/**
 * Whether a method that was not called could have been counted: a misspelt name must not pass as a
 * method without calls.
 */
final class ExpectedMethod {
  private final String pattern;

  ExpectedMethod(String pattern) {
    this.pattern = pattern.strip();
  }

  /**
   * Loads its class with {@code loader} if need be: then its methods have probes.
   *
   * @throws ExtensionConfigurationException if the pattern names no method, or one without probes
   */
  void check(ClassLoader loader) {
    if (isKnown()) return;
    Optional<Class<?>> owner = load(loader);
    if (owner.isPresent() && isKnown()) return;
    if (owner.isEmpty() || methods(owner.get()).findAny().isEmpty()) throw misspelt(owner);
    // An abstract method has no code: its implementations are counted, and none is loaded.
    if (methods(owner.get()).allMatch(it -> Modifier.isAbstract(it.getModifiers()))) return;
    throw new ExtensionConfigurationException(
        "@ExpectCalls(method = \"" + pattern + "\"): the method has no probes; its class must be in"
            + " the recording's scope, see the agent's options include= and exclude=");
  }

  private boolean isKnown() {
    return JTrace.nearestMethod(pattern).isEmpty();
  }

  private ExtensionConfigurationException misspelt(Optional<Class<?>> owner) {
    String nearest = JTrace.nearestMethod(pattern).orElse("");
    String where = owner.isPresent() ? "its class has no such method" : "no loaded class has such a method";
    return new ExtensionConfigurationException(
        "@ExpectCalls(method = \"" + pattern + "\"): " + where
            + (nearest.isEmpty() ? "" : "; nearest: " + nearest)
            + (className().isEmpty() ? "; a class that may not be loaded yet needs its whole name" : ""));
  }

  /** Empty: the pattern names several, or there is none of that name. */
  private Optional<Class<?>> load(ClassLoader loader) {
    if (className().isEmpty()) return Optional.empty();
    try {
      return Optional.of(Class.forName(className(), false, loader));
    } catch (ClassNotFoundException | LinkageError e) {
      return Optional.empty();
    }
  }

  private String className() {
    int colons = pattern.indexOf("::");
    String name = colons < 0 ? "" : pattern.substring(0, colons);
    return name.contains("*") ? "" : name;
  }

  private Stream<Executable> methods(Class<?> owner) {
    return Stream.concat(
            Arrays.stream(owner.getDeclaredMethods()), Arrays.stream(owner.getDeclaredConstructors()))
        .filter(this::isMeant);
  }

  private boolean isMeant(Executable method) {
    String[] parts = pattern.substring(pattern.indexOf("::") + 2).split("[()]", 3);
    String regex =
        Arrays.stream(parts[0].split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    String name = method instanceof Constructor ? "<init>" : method.getName();
    return name.matches(regex) && (parts.length == 1 || hasParameters(method, parts[1]));
  }

  /** As in the agent: their full or simple names. */
  private static boolean hasParameters(Executable method, String wanted) {
    String[] names = wanted.isBlank() ? new String[0] : wanted.strip().split("\\s*,\\s*");
    Class<?>[] types = method.getParameterTypes();
    if (names.length != types.length) return false;
    for (int i = 0; i < types.length; i++) {
      String full = types[i].getTypeName();
      String simple = full.replaceFirst(".*[.$]", "");
      if (!names[i].equals(full) && !names[i].equals(simple)) return false;
    }
    return true;
  }
}
