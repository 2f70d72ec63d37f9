// What threads have counted, with or without a recording, by their present names.
#pragma once

#include <jvmti.h>

#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metrics_report.h"
#include "agent/metrics/thread_counters.h"
#include "agent/session/jvm_parts.h"

namespace jtrace {

// The calling thread is counted from here on, as the Java thread that it may be. Its numbers; none:
// no memory.
std::optional<metrics::ThreadCounters::Identity> CountCaller(JvmParts& jvm);
// All Java threads that run, and those that begin.
void CountRunningThreads(JvmParts& jvm, JNIEnv* jni);
metrics::MetricsReport CollectMetrics(JvmParts& jvm, JNIEnv* jni);
// The loaded classes that implement an interface or extend an abstract class (jvmti/implementors).
absl::flat_hash_set<std::string> ImplementorsOf(JvmParts& jvm, absl::string_view class_name);

}  // namespace jtrace
