// Switches JVMTI's events that are on outside of recordings. A recording's parts switch its own.
#pragma once

#include <jvmti.h>

#include <array>

#include "absl/status/status.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"

namespace jtrace {

// Reports stubs that the JVM generates; on before VMInit and in recordings.
inline constexpr std::array kStubEvents = {JVMTI_EVENT_DYNAMIC_CODE_GENERATED};

jvmtiCapabilities WantedCapabilities(const Options& options);

// Both at load: the first if VMInit begins a recording, the second with `serve`.
absl::Status EnableEarlyEvents(jvmtiEnv* env, CompiledCodeReports& reports, const Options& options);
absl::Status EnableServingEvents(jvmtiEnv* env);
// In a JVM that already runs. They stay on between recordings, so that the memory of ended threads
// and unloaded classes is reused.
absl::Status EnableLastingEvents(jvmtiEnv* env);

absl::Status EnableClassFileEvents(jvmtiEnv* env);
// Called when no class has probes, because removing probes needs the events, too.
void DisableClassFileEvents(jvmtiEnv* env);
// Switches thread starts on for good, with or without a recording: threads' metrics are requested.
void EnableThreadStarts(jvmtiEnv* env, EventState& events);

}  // namespace jtrace
