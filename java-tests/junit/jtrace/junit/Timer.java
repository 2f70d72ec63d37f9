package jtrace.junit;

import java.util.List;

/**
 * What drives samples. timer=cpu chooses between the first two by the cost of perf events here: a
 * test of samples runs with each of the three, so that its result does not depend on the machine.
 */
enum Timer {
  PERF("perf:cpu-clock"),
  /** What timer=cpu uses where perf events are refused. */
  POSIX("cpu"),
  WALL("wall");

  final String option;

  Timer(String value) {
    option = "timer=" + value;
  }

  /** What stands before the JVM's command; without what it needs the test is not verified. */
  List<String> launcher() {
    if (this == POSIX) return Kernel.without("perf_event_open", Kernel.EPERM);
    if (this == PERF) Kernel.assumeAllows("cpu-clock");
    return List.of();
  }
}
