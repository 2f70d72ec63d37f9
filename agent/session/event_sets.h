// Which of JVMTI's events are on, and when.
#pragma once

#include <jvmti.h>

#include "absl/status/status.h"
#include "agent/options/options.h"
#include "agent/session/jvm_parts.h"

namespace jtrace {

jvmtiCapabilities WantedCapabilities(const Options& options);

// At load, with a recording that VMInit begins, and without one.
absl::Status EnableEarlyEvents(jvmtiEnv* env, const Options& options);
absl::Status EnableServingEvents(jvmtiEnv* env);
// In a JVM that runs already. They stay on between recordings, so that memory of ended threads and
// unloaded classes goes to others.
absl::Status EnableLastingEvents(jvmtiEnv* env);

// While a recording runs.
void EnableRecordedEvents(JvmParts& jvm, const Options& options);
absl::Status EnableClassFileEvents(jvmtiEnv* env);
// A library's first native method is bound before it runs: hooks in it miss none of its calls, but
// those of its JNI_OnLoad.
void EnableBindEvents(jvmtiEnv* env);
// Somebody asks for threads' metrics: their starts are reported from here on, recording or not.
void CountThreads(JvmParts& jvm);

// A recording has failed: what may come any time. Any thread.
void DisableLiveEvents(jvmtiEnv* env);
// A recording has ended.
void DisableRecordedEvents(JvmParts& jvm);

}  // namespace jtrace
