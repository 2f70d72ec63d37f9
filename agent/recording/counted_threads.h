// What threads have counted, with or without a recording, by the threads' current names.
#pragma once

#include <jvmti.h>

#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metrics_report.h"
#include "agent/metrics/thread_counters.h"
#include "agent/recording/jvm_parts.h"

namespace jtrace {

// Counts the calling thread from here on, as a Java thread if it is one. Returns its numbers;
// nullopt: there is no memory.
std::optional<metrics::ThreadCounters::Identity> CountCaller(JvmParts& jvm);
// Returns the calling thread's number in the trace, for a record of it. 0: it is a virtual thread
// whose end the recording does not see, so that its number would never be forgotten.
uint32_t NumberOfCaller(JvmParts& jvm);
// Counts all running Java threads, and those that start later.
void CountRunningThreads(JvmParts& jvm, JNIEnv* jni);
metrics::MetricsReport CollectMetrics(JvmParts& jvm, JNIEnv* jni);
// Returns the loaded classes that implement an interface or extend an abstract class
// (jvm/loaded_classes.h).
absl::flat_hash_set<std::string> ImplementorsOf(JvmParts& jvm, absl::string_view class_name);

}  // namespace jtrace
