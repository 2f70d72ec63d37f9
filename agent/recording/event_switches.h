// Which of JVMTI's events are on outside of recordings, and when. Those of a recording are switched
// by its parts.
#pragma once

#include <jvmti.h>

#include <array>

#include "absl/status/status.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"

namespace jtrace {

// The JVM generates stubs: before VMInit, and in recordings.
inline constexpr std::array kStubEvents = {JVMTI_EVENT_DYNAMIC_CODE_GENERATED};

jvmtiCapabilities WantedCapabilities(const Options& options);

// At load, whether or not VMInit begins a recording.
absl::Status EnableEarlyEvents(JvmParts& jvm, const Options& options);
absl::Status EnableServingEvents(jvmtiEnv* env);
// In a JVM that already runs. They stay on between recordings, so that the memory of ended threads
// and unloaded classes is reused.
absl::Status EnableLastingEvents(jvmtiEnv* env);

absl::Status EnableClassFileEvents(jvmtiEnv* env);
// Once no class has probes: removing them passes the hook, too.
void DisableClassFileEvents(jvmtiEnv* env);
// Threads' metrics are requested: reports thread starts from here on, with or without a recording.
void CountThreads(JvmParts& jvm);

}  // namespace jtrace
