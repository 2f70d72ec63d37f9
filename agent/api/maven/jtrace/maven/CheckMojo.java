package jtrace.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.project.MavenProject;

/**
 * Reports on the trace of the tests, and fails the build if a rule is broken. Its fields are the
 * parameters of plugin.xml, which Maven sets.
 */
public final class CheckMojo extends AbstractMojo {
  private MavenProject project;
  private boolean skip;
  private boolean skipTests;
  private boolean skipAllTests;
  private String home;
  private File trace;
  private File baseline;
  private List<String> rules;
  private String metric;
  private List<String> postOptions;
  private File reportFolder;

  private PostProcessor post;

  @Override
  public void execute() throws MojoExecutionException, MojoFailureException {
    if (skip || skipTests || skipAllTests || project.getPackaging().equals("pom")) {
      getLog().info("jtrace checks nothing: there are no tests, or they are skipped");
      return;
    }
    requireTrace();
    post = new PostProcessor(Products.in(home).post(), postOptions == null ? List.of() : postOptions);
    List<String> texts = rules == null ? List.of() : rules;
    List<CheckedRule> all = texts.stream().map(CheckedRule::new).collect(Collectors.toList());
    List<CheckedRule> absolute = all.stream().filter(CheckedRule::isAbsolute).collect(Collectors.toList());
    List<CheckedRule> relative = all.stream().filter(it -> !it.isAbsolute()).collect(Collectors.toList());
    List<String> broken = new ArrayList<>(reports(absolute));
    if (!relative.isEmpty()) broken.addAll(compare(relative));
    broken.replaceAll(line -> line.replaceFirst("^--fail-on=", ""));
    if (broken.isEmpty()) {
      getLog().info("jtrace: rules that hold: " + all.size() + "; the report: " + output("report.html"));
      return;
    }
    broken.forEach(getLog()::error);
    throw new MojoFailureException("jtrace: " + broken.get(0) + "; the report: " + output("report.html"));
  }

  private void requireTrace() throws MojoExecutionException {
    if (!trace.isFile()) {
      throw new MojoExecutionException(
          "no trace " + trace + ": the tests ran without the agent; their JVM must be a forked one (forkCount=1),"
              + " jtrace:record must run before, and an <argLine> of the POM must contain @{argLine}");
    }
    try {
      Files.createDirectories(reportFolder.toPath());
    } catch (IOException e) {
      throw new MojoExecutionException("cannot make the folder " + reportFolder + ": " + e.getMessage(), e);
    }
  }

  /** A file in the folder of reports. */
  private Path output(String name) {
    return reportFolder.toPath().resolve(name);
  }

  /** What there is to see of this trace alone; returns the broken rules. */
  private List<String> reports(List<CheckedRule> absolute) throws MojoExecutionException {
    post.report(output("report.html"), List.of("--report=html"), trace.toPath());
    List<String> text = new ArrayList<>(List.of("--width=0"));
    absolute.forEach(rule -> text.add(rule.argument()));
    return post.report(output("report.txt"), text, trace.toPath());
  }

  /** Returns the broken rules, each followed by the call paths that changed. */
  private List<String> compare(List<CheckedRule> relative) throws MojoExecutionException {
    if (!baseline.isFile()) {
      throw new MojoExecutionException(
          "no " + baseline + " to compare with; make it once: mvn test jtrace:baseline, with the same profiles");
    }
    List<String> arguments = new ArrayList<>(List.of("--report=diff", "--width=0"));
    if (metric != null) arguments.add("--metric=" + metric);
    relative.forEach(rule -> arguments.add(rule.argument()));
    List<String> lines = new ArrayList<>();
    Map<String, CallPaths> paths = new HashMap<>();
    for (String message : post.report(output("diff.txt"), arguments, baseline.toPath(), trace.toPath())) {
      lines.add(message);
      for (CheckedRule rule : relative) {
        String by = rule.metric(metric);
        if (!rule.isIn(message) || by.isEmpty()) continue;
        if (!paths.containsKey(by)) paths.put(by, callPaths(by));
        String end = rule.isOfTotal() ? "" : rule.routineIn(message);
        paths.get(by).changed(end).forEach(path -> lines.add("  " + path));
        break;
      }
    }
    return lines;
  }

  private CallPaths callPaths(String by) throws MojoExecutionException {
    Path before = output("before.collapsed");
    Path after = output("after.collapsed");
    List<String> arguments = List.of("--report=collapsed", "--metric=" + by);
    try {
      post.report(before, arguments, baseline.toPath());
      post.report(after, arguments, trace.toPath());
      return new CallPaths(before, after);
    } finally {
      before.toFile().delete();
      after.toFile().delete();
    }
  }
}
