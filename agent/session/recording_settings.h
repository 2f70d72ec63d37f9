// Translates the options of a recording for the parts that use them.
#pragma once

#include "absl/time/time.h"
#include "agent/hot/layout.h"
#include "agent/options/options.h"
#include "agent/probes/bridge.h"
#include "agent/sampling/sampler.h"
#include "agent/session/jvm_parts.h"

namespace jtrace {

// How often the writer reads the rings.
absl::Duration PollPeriod(const Options& options);

// Whether samples distinguish the application's methods from others.
bool NeedsAppScope(const Options& options);

// Whether methods get numbers only when a sample or a record of compiled code has them.
bool NumbersMethodsLater(const Options& options);

sampling::SamplerOptions SamplerOptionsOf(const Options& options);
hot::ProbeClock ProbeClockOf(Clock clock);
ProbeOptions ProbeOptionsOf(const Options& options);
// Sets options.memory_bytes if it is 0; the same for all recordings of a JVM, as probes with
// another limit are different probes. On the thread of a start.
void ChooseTreeMemory(JvmParts& jvm, JNIEnv* jni, Options& options);

}  // namespace jtrace
