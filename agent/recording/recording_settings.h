// Translates the options of a recording for the parts that use them.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/calls/bridge.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/recording_parts.h"
#include "agent/samples/sampler.h"
#include "agent/signal_safe/layout.h"

namespace jtrace {

// How often the writer reads the rings.
absl::Duration PollPeriod(const Options& options);

// Whether samples distinguish the application's methods from others.
bool NeedsAppScope(const Options& options);

// Whether methods get numbers only when a sample or a record of compiled code has them.
bool NumbersMethodsLater(const Options& options);

samples::SamplerOptions SamplerOptionsOf(const Options& options);
signal_safe::ProbeClock ProbeClockOf(Clock clock);
calls::ProbeOptions ProbeOptionsOf(const Options& options);
// Sets options.memory_bytes if it is 0; the same for all recordings of a JVM, as probes with
// another limit are different probes. On the thread of a start.
void ChooseTreeMemory(JvmParts& jvm, JNIEnv* jni, Options& options);

// The metrics of a recording: which are charged to call paths, and what writes the others.

// The recording keeps call trees: the only ones that have call paths.
bool HasTrees(const Options& options);

// Sets metric_numbers and calls.
absl::Status PrepareMetrics(RecordingParts& parts);

// Once the probes are there: the sources of metrics that these do not charge.
void MakeMetricSources(RecordingParts& parts);

}  // namespace jtrace
