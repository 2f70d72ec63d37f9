package jtrace.maven;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoExecutionException;

/** The files of an installed or unpacked jtrace. */
final class Products {
  private static final List<String> LIBRARIES = List.of("lib", "lib/x86_64-linux-gnu", "lib64");

  private final Path home;

  private Products(Path home) {
    this.home = home;
  }

  /** {@code home}: the folder with {@code bin} and {@code lib}; null: JTRACE_HOME, else /usr. */
  static Products in(String home) {
    if (home != null && !home.isBlank()) return new Products(Path.of(home));
    String variable = System.getenv("JTRACE_HOME");
    return new Products(Path.of(variable == null || variable.isBlank() ? "/usr" : variable));
  }

  Path agent() throws MojoExecutionException {
    return find("libjtrace.so", LIBRARIES);
  }

  Path post() throws MojoExecutionException {
    return find("jtrace-post", List.of("bin"));
  }

  private Path find(String name, List<String> folders) throws MojoExecutionException {
    for (String folder : folders) {
      Path file = home.resolve(folder).resolve(name).toAbsolutePath().normalize();
      if (Files.isRegularFile(file)) return file;
    }
    String where = folders.stream().map(it -> home.resolve(it).toString()).collect(Collectors.joining(", "));
    throw new MojoExecutionException(
        "no " + name + " in " + where + "; name the folder of the unpacked release: -Djtrace.home=FOLDER or"
            + " the variable JTRACE_HOME");
  }
}
