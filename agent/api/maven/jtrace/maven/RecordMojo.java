package jtrace.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.project.MavenProject;

/**
 * Puts the agent into the JVM of the tests: sets the property from which Surefire and Failsafe take
 * that JVM's arguments. Its fields are the parameters of plugin.xml, which Maven sets.
 */
public final class RecordMojo extends AbstractMojo {
  private MavenProject project;
  private boolean skip;
  private String home;
  private String options;
  private String propertyName;
  private File trace;

  @Override
  public void execute() throws MojoExecutionException {
    Properties properties = project.getProperties();
    String others = properties.getProperty(propertyName, "").strip();
    if (skip) {
      // So that @{argLine} in the POM means nothing, and not itself.
      properties.setProperty(propertyName, others);
      return;
    }
    Path file = trace.toPath().toAbsolutePath();
    forget(file);
    String agent = "-agentpath:" + Products.in(home).agent() + "=" + withOut(file);
    String line = (quoted(agent) + " " + others).strip();
    properties.setProperty(propertyName, line);
    getLog().info(propertyName + " is " + line);
  }

  /** An old trace must not be taken for that of tests that did not run. */
  private static void forget(Path file) throws MojoExecutionException {
    try {
      Files.createDirectories(file.getParent());
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new MojoExecutionException("cannot make room for the trace " + file + ": " + e.getMessage(), e);
    }
  }

  private String withOut(Path file) throws MojoExecutionException {
    String given = options == null ? "" : options.replaceAll("\\s+", "");
    if (("," + given).contains(",out=")) {
      throw new MojoExecutionException("jtrace.options has out=; name the trace by jtrace.trace");
    }
    return given.isEmpty() ? "out=" + file : given + ",out=" + file;
  }

  /** As Surefire splits the line. */
  private static String quoted(String argument) {
    return argument.matches("\\S*") ? argument : '"' + argument + '"';
  }
}
