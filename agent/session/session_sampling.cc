// What samples need in a recording: the sampler, who is sampled, where samples go.
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/classfile/scope_filter.h"
#include "agent/sampling/timers.h"
#include "agent/session/recording_settings.h"
#include "agent/session/session.h"

namespace jtrace {

absl::Status Session::CreateSampler() {
  const sampling::SamplerOptions options = SamplerOptionsOf(options_);
  if (sampler_ != nullptr) return sampler_->Reconfigure(options);
  auto sampler =
      sampling::Sampler::Create(options, reinterpret_cast<const void*>(vm_->functions->GetEnv));
  if (!sampler.ok()) return sampler.status();
  sampler_ = *std::move(sampler);
  return absl::OkStatus();
}

absl::Status Session::StartSampler(JNIEnv* jni) {
  if (sampler_ == nullptr) return absl::OkStatus();
  if (!options_.WantsSamples()) return sampler_->LearnJvm(jni);
  sampled_threads_ = NameFilter(options_.samples.threads);
  if (absl::Status status = StartAppScope(); !status.ok()) return status;
  if (absl::Status status = sampler_->Start(jni); !status.ok()) return status;
  TellKernelFrames();
  if (const int error = sampler_->SignalError(); error != 0) {
    losses_.Add("samples.no_signals", Severity::kWarning, 1,
                absl::StrCat("timer that may not signal threads (rt_tgsigqueueinfo: ",
                             strerror(error), "): those that run have no samples"),
                "let the container's seccomp profile allow rt_tgsigqueueinfo, or timer=cpu");
  }
  if (const std::string& problem = sampler_->JavaLayoutProblem(); !problem.empty()) {
    losses_.Add("samples.no_java_frames", Severity::kError, 1,
                absl::StrCat("samples have no Java frames: ", problem),
                "use a JDK between 17 and 25 built by OpenJDK");
  }
  writer::SampleSource::NodeNumber node_number;
  if (trees_ != nullptr) {
    node_number = [this](uint64_t raw_node, jvmti::MethodKey innermost) {
      return TreePosition(raw_node, innermost);
    };
  }
  sample_source_ = std::make_unique<writer::SampleSource>(
      clock_, *sampler_, classes_, encoder_, losses_,
      [this](uint64_t java_tid) { return groups_.NumberOfThread(java_tid); }, node_number,
      options_.codes.Has(Code::kInterrupt));
  hook_source_ = std::make_unique<writer::HookSource>(
      hooks_, encoder_, losses_,
      [this](uint64_t java_tid) { return groups_.NumberOfThread(java_tid); },
      std::move(node_number));
  internal_threads_ = std::make_unique<writer::InternalThreadSource>(
      threads_, *sampler_, sampled_threads_, [this](pid_t tid) { return IsAgentThread(tid); },
      losses_);
  return absl::OkStatus();
}

absl::Status Session::StartAppScope() {
  sampler_->app_methods().Clear();
  app_scope_ = nullptr;
  classes_.MakeIds(NeedsAppScope(options_));
  if (!NeedsAppScope(options_)) return absl::OkStatus();
  auto filter = classfile::ScopeFilter::Create(options_.include, options_.exclude);
  if (!filter.ok()) return filter.status();
  app_scope_ = std::make_unique<jvmti::AppScope>(env_, *std::move(filter), sampler_->app_methods());
  return absl::OkStatus();
}

void Session::TellKernelFrames() {
  const bool whole = options_.samples.stack == hot::StackMode::kFull ||
                     options_.samples.stack == hot::StackMode::kFrame ||
                     options_.samples.stack == hot::StackMode::kPc;
  // A wall clock's threads are mostly not in the kernel's code but wait in it.
  if (!whole || options_.samples.timer == Timer::kWall) return;
  if (sampler_->has_kernel_frames()) {
    if (sampler_->kernel_symbols().readable()) return;
    losses_.Add("samples.no_kernel_names", Severity::kInfo, 1,
                "kernel whose /proc/kallsyms hides addresses: its frames have no names",
                "sysctl kernel.kptr_restrict=0");
  } else if (sampler_->kernel_frames_allowed()) {
    losses_.Add("samples.no_kernel_frames", Severity::kInfo, 1,
                "timer without kernel frames: POSIX timers, the cheaper ones here, have none",
                "timer=perf:cpu-clock");
  } else {
    const bool has_event = options_.samples.timer == Timer::kPerf;
    losses_.Add("samples.no_kernel_frames", Severity::kInfo, 1,
                "timer without kernel frames: the kernel does not let this user have them",
                absl::StrCat(sampling::PerfEventRemedy(sampling::PerfEventParanoid()),
                             has_event ? "" : ", and timer=perf:cpu-clock"));
  }
}

// A leaf is not its thread's current node while it runs: its caller is.
uint32_t Session::TreePosition(uint64_t raw_node, jvmti::MethodKey innermost) {
  const uint32_t routine = innermost != 0 ? classes_.RoutineOf(innermost) : 0;
  const bool is_leaf = routine != 0 && instrumentation_->IsLeaf(routine);
  const uint32_t leaf = is_leaf ? trees_->TraceChild(raw_node, routine) : 0;
  return leaf != 0 ? leaf : trees_->TraceNode(raw_node);
}

// Java threads that started before the sampler: their kernel tids were noted when they started.
void Session::AttachRunningThreads(JNIEnv* jni) {
  jvmti::LocalFrame frame(jni);
  jint count = 0;
  jvmti::Allocated<jthread> running(env_);
  if (env_->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jvmti::RunningThread found = threads_.FindRunning(jni, running[i]);
    if (found.numbers.number == 0 || found.numbers.os_tid == 0) continue;
    if (!WantsThread(found.numbers.java_tid)) continue;
    sampler_
        ->AttachThread(found.numbers.os_tid, found.numbers.number, found.numbers.java_tid,
                       found.java_thread)
        .IgnoreError();
  }
  internal_threads_->AttachAll();
}

}  // namespace jtrace
