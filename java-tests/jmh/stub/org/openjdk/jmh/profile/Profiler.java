package org.openjdk.jmh.profile;

/** The part of JMH 1.37's interface that a profiler needs. */
public interface Profiler {
  String getDescription();
}
