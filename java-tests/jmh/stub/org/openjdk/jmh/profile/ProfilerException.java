package org.openjdk.jmh.profile;

/** As far as a profiler needs it. */
public class ProfilerException extends Exception {
  private static final long serialVersionUID = 1;

  public ProfilerException(String message) {
    super(message);
  }
}
