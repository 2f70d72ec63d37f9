package jtrace.junit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Where the products and the JDK under test are; CTest passes it in as system properties. */
final class Setup {
  static final Path AGENT = path("jtrace.agent");
  static final Path COMMAND = path("jtrace.command");
  static final Path POST = path("jtrace.post");
  static final Path CASES = path("jtrace.cases");
  static final Path CASE_SOURCES = path("jtrace.case.sources");
  static final Path SOURCE = path("jtrace.source");
  static final Path JDK = path("jtrace.jdk");
  static final int JDK_MAJOR = major();
  /** Whether tests run in their long form; the default is the short form. */
  static final boolean LONG = Boolean.getBoolean("jtrace.long");

  private Setup() {}

  static String property(String name) {
    String value = System.getProperty(name);
    if (value == null) throw new IllegalStateException("run by CTest: -D" + name + " is missing");
    return value;
  }

  private static Path path(String name) {
    return Path.of(property(name));
  }

  static String java() {
    return JDK.resolve("bin/java").toString();
  }

  /** A jar of a Debian package. */
  static String jar(String name) {
    Path jar = Path.of("/usr/share/java", name);
    if (!Files.exists(jar)) throw new IllegalStateException(jar + " is missing: scripts/setup.sh");
    return jar.toString();
  }

  static String classpath(String... jars) {
    List<String> parts = new ArrayList<>();
    parts.add(CASES.toString());
    for (String jar : jars) parts.add(jar(jar));
    return String.join(":", parts);
  }

  private static int major() {
    Properties release = new Properties();
    try (var reader = Files.newBufferedReader(JDK.resolve("release"))) {
      release.load(reader);
    } catch (IOException e) {
      throw new IllegalStateException("not a JDK: " + JDK, e);
    }
    String version = release.getProperty("JAVA_VERSION").replace("\"", "");
    return Integer.parseInt(version.split("\\.")[0]);
  }
}
