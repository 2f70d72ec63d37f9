// When the JVM reports compiled methods (JVMTI CompiledMethodLoad).
#pragma once

#include <jvmti.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "agent/jvm/hot_spot_internals.h"
#include "agent/options/options.h"

namespace jtrace {

// A report costs about 30 us, half of it in the JVM, which is more than a sample costs. So the
// reports end once nobody needs them: if no records of compiled methods are requested, the first
// reports have shown that the sampler reads compiled code as the JVM does, and the JVM keeps debug
// information without them (NonSafepointsFlag).
//
// Threads: AfterReport on any; the others under the session's lock.
class CompiledCodeReports {
 public:
  explicit CompiledCodeReports(jvmtiEnv* env) : env_(env) {}

  // At load, if `options` need reports: who listens before the first method is compiled gets debug
  // information for all methods.
  absl::Status Expect(const Options& options);
  // Called when a recording begins and its sampler runs, and when records of code are requested
  // later. `keeper` is null if there never were samples.
  void Start(const Options& options, jvm::DebugInfoKeeper* keeper);
  // Requests reports of methods that are compiled already, if any are needed.
  void ReportExisting();
  // Called when all that need a report have seen it. Ends the reports if no more are needed.
  void AfterReport();
  // Ends the reports with the recording.
  void Stop();
  // Makes the JVM keep debug information for all code that it compiles from now on, if `keeper` can
  // switch that on, for samples of later recordings. Before the first Start.
  void KeepAlways(jvm::DebugInfoKeeper& keeper);
  bool always_keeps() const;

 private:
  bool IsOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Disable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  jvmtiEnv* const env_;
  mutable absl::Mutex mutex_;
  bool always_keeps_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_listening_ ABSL_GUARDED_BY(mutex_) = false;
  // Not null: only this keeper needs the reports.
  jvm::DebugInfoKeeper* only_user_ ABSL_GUARDED_BY(mutex_) = nullptr;
  jvm::DebugInfoKeeper* keeper_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace jtrace
