// The probes that the options of a recording, or of resting probes, ask for.
#pragma once

#include <jni.h>

#include "agent/calls/probes.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace {

// The recording keeps call trees, the only ones that have call paths (record=tree).
bool HasTrees(const Options& options);

signal_safe::ProbeClock ProbeClockOf(Clock clock);
calls::ProbeOptions ProbeOptionsOf(const Options& options);
// Sets options.memory_bytes if it is 0; the same for all recordings of a JVM, as probes with
// another limit are different probes. On the thread of a start.
void ChooseTreeMemory(JvmParts& jvm, JNIEnv* jni, Options& options);

}  // namespace jtrace
