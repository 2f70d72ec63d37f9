package org.openjdk.jmh.profile;

/** As far as a profiler needs it: what JMH 1.37 has under this name. */
public interface Profiler {
  String getDescription();
}
