// The probes that the options of a recording, or of resting probes, ask for.
#pragma once

#include <jni.h>

#include "agent/calls/probes.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/signal_safe/probe_clock.h"

namespace jtrace {

// Whether the recording keeps metrics by call path: it has call trees (record=tree).
bool HasTrees(const Options& options);

signal_safe::ProbeClock ProbeClockOf(Clock clock);
calls::ProbeOptions ProbeOptionsOf(const Options& options);
// Sets options.memory_bytes if it is 0, to the same value for all recordings of a JVM, because
// probes with another limit are another probe set. On the thread of a start.
void ChooseTreeMemory(ProbeState& probes, JNIEnv* jni, Options& options);

}  // namespace jtrace
