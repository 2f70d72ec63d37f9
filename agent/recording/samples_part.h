// The samples of a recording: the sampler, which threads it samples, and what writes the samples.
#pragma once

#include <jvmti.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/base/thread_name_filter.h"
#include "agent/jvm/application_methods.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/calls_part.h"
#include "agent/recording/recording_part.h"
#include "agent/samples/non_java_thread_source.h"
#include "agent/samples/sample_source.h"
#include "agent/samples/sampler.h"

namespace jtrace {

// Makes the JVM's sampler, or gives it the options of the next recording.
absl::Status PrepareSampler(JvmState& jvm, const Options& options);

class SamplesPart : public RecordingPart {
 public:
  // `calls`: whose call trees the samples belong to; null: the recording has none (mode=samples).
  // `wake`: makes the control thread check what is due.
  SamplesPart(AgentState& agent, const Options& options, const CallsPart* calls,
              std::function<void()> wake);

  absl::Status Prepare() override { return PrepareSampler(jvm_, options_); }
  // Starts the sampler, to which threads may be attached from now on.
  absl::Status Start(JNIEnv* jni) override;
  void ReportStart() override;
  // Attaches running threads: Java threads, whose kernel ids are known since they started, and
  // others.
  void AddExisting(JNIEnv* jni) override;
  std::vector<trace::ChunkSource*> sources() override;
  void ThreadStarted(JNIEnv* jni, const jvm::TraceThreadIds& numbers) override;
  // The methods of a prepared class may belong to the application (stack=app).
  void ClassPrepared(jclass klass) override;
  void Stop() override;
  void ReportEnd() override;
  void AddToStart(proto::SessionStart& start) const override;
  std::string Summary() const override;
  std::string Status() const override;
  std::string Problem() const override { return problem_; }

  // Whether there are as many samples as samples= requests. Any thread, after Start.
  bool HasEnough() const {
    return options_.max_samples != 0 && sample_source_->samples() >= options_.max_samples;
  }
  // Returns what finds the trace's number of the node that a sample or a hook's call belongs to;
  // null: no trees are kept.
  samples::SampleSource::NodeNumber node_number() const;

 private:
  samples::Sampler& sampler() const { return *jvm_.sampler.load(); }
  // Whether samples distinguish the application's methods from others (stack=app, stack=appframe).
  bool NeedsAppScope() const;
  absl::Status StartAppScope();
  void MakeSources();
  // Returns what finds the call site that a sample was in; null: they are not distinguished.
  samples::SampleSource::CallSiteAt CallSiteAt() const;
  // Reports which kernel data samples lack, and how to get it.
  void ReportKernelFrames();
  void ReportForbiddenTimers();
  void ReportSampler();
  // Adds a loss that is also logged when the recording begins.
  void AddProblem(const char* name, const std::string& what, const std::string& remedy);
  bool WantsThread(uint64_t java_tid) const;
  // The timer that drives the samples: "cpu (perf event)".
  std::string TimerInUse() const;

  JvmState& jvm_;
  const calls::CallSiteTable& call_sites_;
  const CompiledCodeReports& code_reports_;
  const Options& options_;
  const CallsPart* const calls_;
  const std::function<void()> wake_;
  ThreadNameFilter threads_;
  std::string problem_;
  std::unique_ptr<jvm::ApplicationMethods> app_scope_;  // stack=app, stack=appframe
  std::unique_ptr<samples::SampleSource> sample_source_;
  std::unique_ptr<samples::NonJavaThreadSource> non_java_threads_;
};

}  // namespace jtrace
