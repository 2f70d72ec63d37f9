// Switches JVMTI's events on and off.
#pragma once

#include <jvmti.h>

#include "absl/status/status.h"
#include "agent/options/options.h"
#include "agent/session/jvm_parts.h"

namespace jtrace {

jvmtiCapabilities WantedCapabilities(const Options& options);

// At load, whether or not VMInit begins a recording.
absl::Status EnableEarlyEvents(JvmParts& jvm, const Options& options);
absl::Status EnableServingEvents(jvmtiEnv* env);
// In a JVM that already runs. They stay on between recordings, so that the memory of ended threads
// and unloaded classes is reused.
absl::Status EnableLastingEvents(jvmtiEnv* env);

// While a recording runs.
void EnableRecordedEvents(JvmParts& jvm, const Options& options);
absl::Status EnableClassFileEvents(jvmtiEnv* env);
// Once no class has probes: removing them passes the hook, too.
void DisableClassFileEvents(jvmtiEnv* env);
// A library's first native method is bound before it runs: hooks in the library miss only the calls
// of its JNI_OnLoad.
void EnableBindEvents(jvmtiEnv* env);
// Threads' metrics are requested: reports thread starts from here on, with or without a recording.
void CountThreads(JvmParts& jvm);

// After a recording ended.
void DisableRecordedEvents(JvmParts& jvm);

}  // namespace jtrace
