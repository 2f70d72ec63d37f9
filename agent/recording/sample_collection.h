// The samples of one recording: which threads are sampled, and where samples and hooks' calls are
// written.
#pragma once

#include <jvmti.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/base/name_filter.h"
#include "agent/jvm/app_scope.h"
#include "agent/native_hooks/hook_source.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/samples/sample_source.h"
#include "agent/samples/sampler.h"
#include "agent/samples/system_source.h"

namespace jtrace {

class SampleCollection {
 public:
  // Makes the JVM's sampler, or gives it other options.
  static absl::Status PrepareSampler(JvmParts& jvm, const Options& options);

  // The sampler is prepared.
  SampleCollection(JvmParts& jvm, const Options& options);

  // From now on threads may be attached. `node_number`: the trace's number of a raw node; null if
  // no trees are kept.
  absl::Status Start(JNIEnv* jni, samples::SampleSource::NodeNumber node_number,
                     samples::SampleSource::PlaceAt place_at);
  // After Start.
  void UseOriginalBci(samples::SampleSource::OriginalBci original_bci) {
    sample_source_->UseOriginalBci(std::move(original_bci));
  }
  // After Start: calls `wake` as soon as HasEnough (samples=).
  void WakeWhenEnough(std::function<void()> wake);
  // Attaches running threads: Java threads, whose kernel tids were noted when they started, and
  // others.
  void AttachRunningThreads(JNIEnv* jni);
  // The calling thread starts.
  void AttachCurrentThread(JNIEnv* jni, const jvm::ThreadNumbers& numbers);
  // Notes the methods of a prepared class (stack=app), and of all prepared classes. Any thread.
  void NotePrepared(jclass klass);
  void AddLoadedToScope(JNIEnv* jni);
  // Ends sampling. Any thread.
  void Stop();

  // Samples before trees: see Recording::StartWriter.
  std::vector<trace::ChunkSource*> sources() const;
  // Why threads cannot be sampled, and what to change; empty: nothing prevents it. After Start.
  const std::string& problem() const { return problem_; }
  uint64_t samples() const { return sample_source_->samples(); }
  // As many as samples= wants, or a few more. Any thread.
  bool HasEnough() const {
    return options_.most_samples != 0 && samples() >= options_.most_samples;
  }
  // The timer that drives the samples: "cpu (perf event)".
  std::string TimerInUse() const;
  // Whether samples are at random moments of their intervals.
  bool has_jitter() const { return sampler_.has_jitter(); }
  // Reports names in threads= that no thread had as a loss.
  void ReportUnmatchedThreads();

 private:
  absl::Status StartAppScope();
  // Reports which kernel data samples lack, and how to get it.
  void ReportKernelFrames();
  void ReportForbiddenTimers();
  void ReportSampler();
  // A loss that the beginning of the recording reports, too.
  void AddProblem(const char* name, const std::string& what, const std::string& remedy);
  bool WantsThread(uint64_t java_tid) const;

  JvmParts& jvm_;
  samples::Sampler& sampler_;
  const Options& options_;
  NameFilter threads_;
  std::string problem_;
  std::unique_ptr<jvm::AppScope> app_scope_;  // stack=app, stack=appframe
  std::unique_ptr<samples::SampleSource> sample_source_;
  std::unique_ptr<native_hooks::HookSource> hook_source_;
  std::unique_ptr<samples::InternalThreadSource> internal_threads_;
};

}  // namespace jtrace
