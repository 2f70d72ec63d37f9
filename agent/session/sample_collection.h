// The samples of one recording: who is sampled, and where samples and hooks' calls go.
#pragma once

#include <jvmti.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/base/name_filter.h"
#include "agent/jvmti/app_scope.h"
#include "agent/options/options.h"
#include "agent/sampling/sampler.h"
#include "agent/session/jvm_parts.h"
#include "agent/sources/hook_source.h"
#include "agent/sources/sample_source.h"
#include "agent/sources/system_source.h"

namespace jtrace {

class SampleCollection {
 public:
  // Makes the JVM's sampler, or gives it other options.
  static absl::Status PrepareSampler(JvmParts& jvm, const Options& options);

  // The sampler is prepared.
  SampleCollection(JvmParts& jvm, const Options& options);

  // From now on threads may be attached. `node_number`: the trace's number of a raw node; null
  // where no trees are kept.
  absl::Status Start(JNIEnv* jni, writer::SampleSource::NodeNumber node_number);
  // Those that run already: Java's, whose kernel tids were noted when they started, and others.
  void AttachRunningThreads(JNIEnv* jni);
  // The calling thread begins.
  void AttachCurrentThread(JNIEnv* jni, const jvmti::ThreadNumbers& numbers);
  // Methods of a class that is prepared (stack=app), and of all that are. Any thread.
  void NotePrepared(jclass klass);
  void AddLoadedToScope(JNIEnv* jni);
  // No sample is taken any more. Any thread.
  void Stop();

  // Samples before trees: see Recording::StartWriter.
  std::vector<writer::ChunkSource*> sources() const;
  uint64_t samples() const { return sample_source_->samples(); }
  // "cpu (perf event)": what drives them.
  std::string TimerInUse() const;
  // Names in threads= that no thread had become a loss.
  void ReportUnmatchedThreads();

 private:
  absl::Status StartAppScope();
  // What samples lack of the kernel, and what would give it.
  void ReportKernelFrames();
  void ReportSampler();
  bool WantsThread(uint64_t java_tid) const;

  JvmParts& jvm_;
  sampling::Sampler& sampler_;
  const Options& options_;
  NameFilter threads_;
  std::unique_ptr<jvmti::AppScope> app_scope_;  // stack=app, stack=appframe
  std::unique_ptr<writer::SampleSource> sample_source_;
  std::unique_ptr<writer::HookSource> hook_source_;
  std::unique_ptr<writer::InternalThreadSource> internal_threads_;
};

}  // namespace jtrace
