// What threads have counted, with or without a recording, by the threads' current names.
#pragma once

#include <jvmti.h>

#include <optional>

#include "agent/metrics/metrics_report.h"
#include "agent/metrics/thread_counters.h"
#include "agent/recording/agent_state.h"

namespace jtrace {

// Counts the calling thread from here on, as a Java thread if it is one. Returns its numbers;
// nullopt: there is no memory.
std::optional<metrics::ThreadCounters::Identity> RegisterCallingThread(AgentState& agent);
// Returns the calling thread's number in the trace, for a record of it. 0: it is a virtual thread
// whose end the recording does not see, so that its number would never be forgotten.
uint32_t TraceIdOfCallingThread(AgentState& agent);
// Counts all running Java threads, and those that start later.
void CountRunningThreads(AgentState& agent, JNIEnv* jni);
metrics::MetricsReport CollectMetrics(AgentState& agent, JNIEnv* jni);

}  // namespace jtrace
