package jtrace.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;

/** Keeps the trace of the tests as what later ones are compared with. */
public final class BaselineMojo extends AbstractMojo {
  private File trace;
  private File baseline;

  @Override
  public void execute() throws MojoExecutionException {
    Path to = baseline.toPath().toAbsolutePath();
    try {
      Files.createDirectories(to.getParent());
      Files.copy(trace.toPath(), to, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new MojoExecutionException(
          "cannot copy " + trace + " to " + to + " (" + e + "); run the tests with jtrace:record before", e);
    }
    getLog().info("kept " + to + ", " + to.toFile().length() + " bytes");
  }
}
