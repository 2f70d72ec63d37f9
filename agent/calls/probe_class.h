// Makes the probe classes: patches values into the bytes that the build embeds, and defines them in
// the boot loader.
#pragma once

#include <jni.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/signal_safe/metric_counts.h"
#include "agent/signal_safe/probe_clock.h"

namespace jtrace::calls {

// Values for the class file's placeholders.
struct ProbeConstants {
  uint64_t arena;  // address
  bool flat;       // record=flat
  // Offset of eight spare bytes in java.lang.Thread (FindThreadPadding); 0: none.
  uint64_t thread_spare;
  bool log = false;  // record=log
  signal_safe::ProbeClock clock = signal_safe::ProbeClock::kNone;
  uint64_t metrics = 0;  // PathMetrics::Packed
  uint64_t blocks = 0;   // address of the shared counters of blocks; 0: they are not counted
  // blocks=paths: address of signal_safe::BlockOwner by id; 0: not by path.
  uint64_t block_owners = 0;
  bool call_sites = false;  // sites=on
};

// Values for the placeholders of JTraceClock.
struct ClockConstants {
  uint64_t ticks_function;  // address of jtrace_ticks
  double ticks_per_nano;
};

// The class with its constants filled in: the literals of JTraceProbe.java in the constant pool are
// overwritten, so that to the JIT they are constants like any other. Pure. Error: Internal if a
// literal does not occur exactly once.
absl::StatusOr<std::vector<uint8_t>> PatchProbeClass(absl::Span<const uint8_t> class_bytes,
                                                     const ProbeConstants& constants);
// The same for JTraceClock.
absl::StatusOr<std::vector<uint8_t>> PatchClockClass(absl::Span<const uint8_t> class_bytes,
                                                     const ClockConstants& constants);

// The same for JTraceExits. `share`: of the caller's time; 0: nodes are not tested.
absl::StatusOr<std::vector<uint8_t>> PatchExitsClass(absl::Span<const uint8_t> class_bytes,
                                                     double share);

// The same for JTraceMetrics. Offsets of more than 16 bits count as not known.
absl::StatusOr<std::vector<uint8_t>> PatchMetricsClass(absl::Span<const uint8_t> class_bytes,
                                                       const signal_safe::AllocLayout& layout);

// Replaces an internal name of a class that the class is, or may refer to, by another. Pure. Error:
// Internal if the constant pool holds the old name more than once.
absl::Status RenameProbeClass(std::vector<uint8_t>& bytes, absl::string_view from,
                              absl::string_view to);

// Returns the internal name of a probe class in the set with that number: 0:
// "java/lang/invoke/JTraceProbe", as embedded; 1: "java/lang/invoke/JTraceProbe2".
std::string NumberedName(absl::string_view name, int number);

// What is needed to define the classes of one probe set.
struct ProbeClassSetup {
  int number;
  ProbeConstants probe;
  ClockConstants clock;
  double exit_share = 0;
  bool resting = false;  // probes=resting
};

// Defines a class in the boot loader from the bytes of its file; null if the JVM rejects it, with a
// Java exception pending.
jclass DefineBootClass(JNIEnv* jni, const char* name, absl::Span<const uint8_t> bytes);

// Defines and initializes all classes of java/ that the set needs, so that no probe has to.
// `counts_ticks`: whether they read the time-stamp counter. In VMInit or later; no Java exception
// is left pending. Errors: FailedPrecondition if the JVM rejects a class or one cannot be
// initialized; Internal if their layout differs from that of the C++ headers.
absl::Status DefineProbeClasses(JNIEnv* jni, const ProbeClassSetup& setup, bool* counts_ticks);

}  // namespace jtrace::calls
