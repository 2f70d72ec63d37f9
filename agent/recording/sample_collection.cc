#include "agent/recording/sample_collection.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/recording/recording_settings.h"
#include "agent/samples/timers.h"
#include "common/scope_filter.h"

namespace jtrace {

absl::Status SampleCollection::PrepareSampler(JvmParts& jvm, const Options& options) {
  const samples::SamplerOptions wanted = SamplerOptionsOf(options);
  if (samples::Sampler* sampler = jvm.sampler.load(); sampler != nullptr) {
    return sampler->Reconfigure(wanted);
  }
  auto sampler = samples::Sampler::Create(wanted, jvm.libjvm_address());
  if (!sampler.ok()) return sampler.status();
  jvm.sampler.store(sampler->release());
  return absl::OkStatus();
}

SampleCollection::SampleCollection(JvmParts& jvm, const Options& options)
    : jvm_(jvm),
      sampler_(*jvm.sampler.load()),
      options_(options),
      threads_(options.samples.threads) {}

absl::Status SampleCollection::Start(JNIEnv* jni, samples::SampleSource::NodeNumber node_number,
                                     samples::SampleSource::PlaceAt place_at) {
  if (absl::Status status = StartAppScope(); !status.ok()) return status;
  sampler_.jvm().NeedMethodIds(NeedsAppScope(options_));
  jvm_.registries.classes.OnIdsNeeded([&sampler = sampler_] { sampler.jvm().NeedMethodIds(true); });
  if (absl::Status status = sampler_.Start(jni); !status.ok()) return status;
  ReportKernelFrames();
  ReportForbiddenTimers();
  ReportSampler();
  TraceParts& trace = jvm_.trace;
  const auto group_of = [this](uint64_t java_tid) {
    return jvm_.registries.groups.NumberOfThread(java_tid);
  };
  sample_source_ = std::make_unique<samples::SampleSource>(
      trace.clock, sampler_, jvm_.registries.classes, trace.encoder, trace.labels, trace.losses,
      group_of, node_number, std::move(place_at), options_.codes.Has(Code::kInterrupt));
  hook_source_ = std::make_unique<native_hooks::HookSource>(jvm_.hooks, trace.encoder, trace.losses,
                                                            group_of, std::move(node_number));
  internal_threads_ = std::make_unique<samples::InternalThreadSource>(
      jvm_.registries.threads, sampler_, threads_,
      [this](pid_t tid) { return jvm_.IsAgentThread(tid); }, trace.losses);
  return absl::OkStatus();
}

void SampleCollection::WakeWhenEnough(std::function<void()> wake) {
  if (options_.most_samples == 0) return;
  sample_source_->NotifyAt(options_.most_samples, std::move(wake));
}

void SampleCollection::ReportSampler() {
  if (const int error = sampler_.SignalError(); error != 0) {
    AddProblem("samples.no_signals",
               absl::StrCat("timer that may not signal threads (rt_tgsigqueueinfo: ",
                            strerror(error), "): those that run have no samples"),
               "let the container's seccomp profile allow rt_tgsigqueueinfo, or timer=cpu");
  }
  if (const std::string& problem = sampler_.jvm().problem(); !problem.empty()) {
    jvm_.trace.losses.Add("samples.no_java_frames", Severity::kError, 1,
                          absl::StrCat("samples have no Java frames: ", problem),
                          "use an OpenJDK from 11 to 27");
  }
  for (const jvm::PartProblem& problem : sampler_.jvm().problems()) {
    const jvm::VmPartText& text = jvm::TextOf(problem.part);
    jvm_.trace.losses.Add(absl::StrCat("jvm.", std::string(text.name)),
                          text.is_minor ? Severity::kInfo : Severity::kWarning, 1,
                          absl::StrCat("part of this JVM that is not as its tables say (",
                                       std::string(problem.what), "): ", std::string(text.without)),
                          "use an OpenJDK from 11 to 27");
  }
}

absl::Status SampleCollection::StartAppScope() {
  sampler_.app_methods().Clear();
  if (!NeedsAppScope(options_)) return absl::OkStatus();
  auto filter = classfile::ScopeFilter::Create(options_.include, options_.exclude);
  if (!filter.ok()) return filter.status();
  app_scope_ = std::make_unique<jvm::AppScope>(jvm_.env, jvm_.registries.classes,
                                               *std::move(filter), sampler_.app_methods());
  return absl::OkStatus();
}

void SampleCollection::ReportKernelFrames() {
  const bool whole = options_.samples.stack == samples::StackMode::kFull ||
                     options_.samples.stack == samples::StackMode::kFrame ||
                     options_.samples.stack == samples::StackMode::kPc;
  // With a wall clock, most threads wait in the kernel and do not run its code.
  if (!whole || options_.samples.timer == Timer::kWall) return;
  Losses& losses = jvm_.trace.losses;
  if (sampler_.has_kernel_frames()) {
    if (sampler_.kernel_symbols().readable()) return;
    losses.Add("samples.no_kernel_names", Severity::kInfo, 1,
               "kernel whose /proc/kallsyms hides addresses: its frames have no names",
               "sysctl kernel.kptr_restrict=0, and a /proc/kallsyms that no container hides");
  } else if (sampler_.kernel_frames_allowed()) {
    losses.Add("samples.no_kernel_frames", Severity::kInfo, 1,
               "timer without kernel frames: POSIX timers, the cheaper ones here, have none",
               "timer=perf:cpu-clock");
  } else {
    const bool has_event = options_.samples.timer == Timer::kPerf;
    losses.Add("samples.no_kernel_frames", Severity::kInfo, 1,
               "timer without kernel frames: the kernel does not let this user have them",
               absl::StrCat(samples::PerfEventRemedy(samples::PerfEventError()),
                            has_event ? "" : ", and timer=perf:cpu-clock"));
  }
}

void SampleCollection::ReportForbiddenTimers() {
  if (sampler_.timer_in_use() != samples::TimerKind::kPosix) return;
  const int error = samples::PosixTimerError();
  if (error == 0) return;
  AddProblem(
      "samples.no_timers",
      absl::StrCat("no samples: the system forbids timers (timer_create: ", strerror(error), ")"),
      "let the container's seccomp profile allow timer_create, or timer=wall, or mode=events");
}

void SampleCollection::AddProblem(const char* name, const std::string& what,
                                  const std::string& remedy) {
  jvm_.trace.losses.Add(name, Severity::kWarning, 1, what, remedy);
  problem_ = absl::StrCat(what, "; ", remedy);
}

bool SampleCollection::WantsThread(uint64_t java_tid) const {
  return threads_.Wants(jvm_.registries.threads.Find(java_tid).name);
}

void SampleCollection::AttachRunningThreads(JNIEnv* jni) {
  jvm::ForEachThread(jvm_.env, jni, [&](jthread thread) {
    const jvm::RunningThread found = jvm_.registries.threads.FindRunning(jni, thread);
    if (found.numbers.number == 0 || found.numbers.os_tid == 0) return;
    if (!WantsThread(found.numbers.java_tid)) return;
    sampler_
        .AttachThread(found.numbers.os_tid, found.numbers.number, found.numbers.java_tid,
                      found.java_thread)
        .IgnoreError();
  });
  internal_threads_->AttachAll();
}

void SampleCollection::AttachCurrentThread(JNIEnv* jni, const jvm::ThreadNumbers& numbers) {
  if (!options_.samples.threads.empty() && !WantsThread(numbers.java_tid)) return;
  sampler_.AttachCurrentThread(jni, numbers.number, numbers.java_tid).IgnoreError();
}

void SampleCollection::NotePrepared(jclass klass) {
  if (app_scope_ != nullptr) app_scope_->Add(klass);
}

void SampleCollection::AddLoadedToScope(JNIEnv* jni) {
  if (app_scope_ != nullptr) app_scope_->AddLoaded(jni);
}

void SampleCollection::Stop() { sampler_.Stop().IgnoreError(); }

std::vector<trace::ChunkSource*> SampleCollection::sources() const {
  return {sample_source_.get(), internal_threads_.get(), hook_source_.get()};
}

std::string SampleCollection::TimerInUse() const {
  if (options_.samples.timer != Timer::kCpu) return TimerName(options_.samples);
  return sampler_.timer_in_use() == samples::TimerKind::kPerf ? "cpu (perf event)"
                                                              : "cpu (POSIX timer)";
}

void SampleCollection::ReportUnmatchedThreads() {
  const std::vector<std::string> patterns = threads_.Unmatched();
  if (patterns.empty()) return;
  constexpr size_t kNames = 3;
  jvm_.trace.losses.Set(
      "threads.no_match", Severity::kWarning, patterns.size(),
      absl::StrCat("names in threads= that no thread had: ", absl::StrJoin(patterns, ";")),
      absl::StrCat("there were, among others: threads=",
                   absl::StrJoin(threads_.NearestTo(patterns[0], kNames), ";")));
}

}  // namespace jtrace
