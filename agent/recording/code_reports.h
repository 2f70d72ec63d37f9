// When the JVM reports compiled methods (JVMTI CompiledMethodLoad).
#pragma once

#include <jvmti.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "agent/jvm/jvm_view.h"
#include "agent/options/options.h"

namespace jtrace {

// A report costs about 30 us, half of it in the JVM, and so more than a sample. So they end once
// nobody needs them any more: records of compiled methods were not requested, the sampler knows
// from the first ones that it reads compiled code as the JVM does, and the JVM keeps debug
// information without being listened to (NonSafepointsFlag).
//
// Threads: AfterReport on any; the others on the session's.
class CodeReports {
 public:
  explicit CodeReports(jvmtiEnv* env) : env_(env) {}

  // At load: whoever listens before the first method is compiled gets debug information for all.
  absl::Status Expect(const Options& options);
  // A recording begins, its samples are started; or records of code are requested since. `reader`
  // is null if there never were samples.
  void Start(const Options& options, jvm::CodeReader* reader);
  // Requests reports of methods that are compiled already, if any are needed.
  void ReportExisting();
  // A method was reported, and all that need it have seen it.
  void AfterReport();
  // The recording ended.
  void Stop();
  // Samples of later recordings will be in code that is compiled from now on: the JVM keeps debug
  // information for all of it, if the sampler can switch that on. Before the first Start.
  void KeepAlways(jvm::CodeReader& reader);
  bool always_keeps() const;

 private:
  bool IsOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Disable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  jvmtiEnv* const env_;
  mutable absl::Mutex mutex_;
  bool always_keeps_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_listening_ ABSL_GUARDED_BY(mutex_) = false;
  // Not null: only this reader needs the reports.
  jvm::CodeReader* until_checked_ ABSL_GUARDED_BY(mutex_) = nullptr;
  jvm::CodeReader* reader_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace jtrace
