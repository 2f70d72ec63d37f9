// Defines the probe classes in the boot loader and initializes them.
#pragma once

#include <jni.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/probes/probe_class.h"

namespace jtrace {

// Internal name of a probe class in the set with that number, 0 being the embedded ones:
// "java/lang/invoke/JTraceProbe", "java/lang/invoke/JTraceProbe2".
std::string NumberedName(absl::string_view name, int number);

// The values for the classes in the JVM.
struct ProbeClassSetup {
  int number;
  ProbeConstants probe;
  ClockConstants clock;
  double exit_share = 0;
  bool resting = false;  // probes=resting
};

// A class of the boot loader from the bytes of its file; null if the JVM rejects it, with a Java
// exception pending.
jclass DefineBootClass(JNIEnv* jni, const char* name, absl::Span<const uint8_t> bytes);

// Defines and initializes all classes of java/ that the set needs, so that no probe has to.
// `counts_ticks`: whether they read the time-stamp counter. In VMInit or later; no Java exception
// is left pending. Errors: FailedPrecondition if the JVM rejects a class or one cannot be
// initialized; Internal if their layout differs from layout.h.
absl::Status DefineProbeClasses(JNIEnv* jni, const ProbeClassSetup& setup, bool* counts_ticks);

}  // namespace jtrace
