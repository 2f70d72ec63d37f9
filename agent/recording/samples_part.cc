#include "agent/recording/samples_part.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/base/agent_thread.h"
#include "agent/base/perf_event.h"
#include "agent/samples/posix_timer.h"
#include "agent/signal_safe/position.h"
#include "common/counted.h"
#include "common/scope_filter.h"
#include "common/thousands.h"

namespace jtrace {
namespace {

samples::TimerKind TimerKindOf(Timer timer) {
  switch (timer) {
    case Timer::kCpu:
      return samples::TimerKind::kAuto;
    case Timer::kWall:
      return samples::TimerKind::kWall;
    case Timer::kPerfEvent:
      return samples::TimerKind::kPerfEvent;
  }
  return samples::TimerKind::kAuto;
}

samples::SamplerOptions SamplerOptionsOf(const Options& options) {
  samples::SamplerOptions result;
  result.interval = options.samples.interval;
  result.timer = TimerKindOf(options.samples.timer);
  result.event = options.samples.event;
  result.period = options.samples.period;
  result.jitter = options.samples.jitter;
  result.stack = options.samples.stack;
  if (options.signal != 0) result.signal = options.signal;
  if (options.WantsCalls() && options.record != RecordKind::kFlat) {
    result.read_position = &signal_safe::ReadPosition;
  }
  return result;
}

}  // namespace

absl::Status PrepareSampler(JvmState& jvm, const Options& options) {
  const samples::SamplerOptions wanted = SamplerOptionsOf(options);
  if (samples::Sampler* sampler = jvm.sampler.load(); sampler != nullptr) {
    return sampler->Reconfigure(wanted);
  }
  jvm.hotspot.Read(jvm.libjvm_address());
  auto sampler = samples::Sampler::Create(wanted, jvm.hotspot);
  if (!sampler.ok()) return sampler.status();
  jvm.sampler.store(sampler->release());
  return absl::OkStatus();
}

SamplesPart::SamplesPart(AgentState& agent, const Options& options, const CallsPart* calls,
                         std::function<void()> wake)
    : jvm_(agent.jvm),
      call_sites_(agent.probes.call_sites),
      code_reports_(agent.code_reports),
      options_(options),
      calls_(calls),
      wake_(std::move(wake)),
      threads_(options.samples.threads) {}

bool SamplesPart::NeedsAppScope() const {
  return options_.samples.stack == samples::StackMode::kApp ||
         options_.samples.stack == samples::StackMode::kAppFrame;
}

absl::Status SamplesPart::Start(JNIEnv* jni) {
  if (absl::Status status = StartAppScope(); !status.ok()) return status;
  samples::Sampler& sampler = this->sampler();
  jvm_.hotspot.NeedMethodIds(NeedsAppScope());
  jvm_.registries.classes.OnMethodIdsRequired(
      [&hotspot = jvm_.hotspot] { hotspot.NeedMethodIds(true); });
  if (absl::Status status = sampler.Start(jni); !status.ok()) return status;
  ReportKernelFrames();
  ReportForbiddenTimers();
  ReportSampler();
  MakeSources();
  return absl::OkStatus();
}

void SamplesPart::MakeSources() {
  TraceState& trace = jvm_.trace;
  sample_source_ = std::make_unique<samples::SampleSource>(
      trace.clock, sampler(), jvm_.registries.classes, trace.encoder, trace.labels, trace.losses,
      [&groups = jvm_.registries.groups](uint64_t java_tid) {
        return groups.NumberOfThread(java_tid);
      },
      node_number(), CallSiteAt(), options_.codes.Has(Code::kInterrupt));
  if (options_.max_samples != 0) sample_source_->NotifyAt(options_.max_samples, wake_);
  if (calls::BlockCountSource* blocks = calls_ != nullptr ? calls_->blocks() : nullptr;
      blocks != nullptr) {
    sample_source_->SetOriginalBci(
        [blocks](uint32_t routine, uint32_t bci) { return blocks->OriginalBci(routine, bci); });
  }
  non_java_threads_ = std::make_unique<samples::NonJavaThreadSource>(
      jvm_.registries.threads, sampler(), threads_, &IsAgentThread, trace.losses);
}

samples::SampleSource::NodeNumber SamplesPart::node_number() const {
  if (calls_ == nullptr || !calls_->has_trees()) return nullptr;
  return [calls = calls_](uint64_t raw_node, jvm::MethodKey innermost) {
    return calls->TreePosition(raw_node, innermost);
  };
}

samples::SampleSource::CallSiteAt SamplesPart::CallSiteAt() const {
  if (!options_.sites) return nullptr;
  return [&classes = jvm_.registries.classes, &sites = call_sites_](jvm::MethodKey method,
                                                                    uint32_t bci) {
    const uint32_t routine = classes.RoutineOf(method);
    return routine != 0 ? sites.CallSiteAt(routine, bci) : kNoCallSite;
  };
}

void SamplesPart::ReportStart() {
  if (!jvm_.program_runs.load() || code_reports_.always_keeps()) return;
  jvm_.trace.losses.Add("attach.debug_info", Severity::kInfo, 1,
                        "code compiled before the attach shows inlined methods only at calls",
                        "start the program with -agentpath, or with "
                        "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints");
}

void SamplesPart::ReportSampler() {
  if (const int error = sampler().SignalError(); error != 0) {
    AddProblem("samples.no_signals",
               absl::StrCat("timer that may not signal threads (rt_tgsigqueueinfo: ",
                            strerror(error), "): those that run have no samples"),
               "let the container's seccomp profile allow rt_tgsigqueueinfo, or timer=cpu");
  }
  if (const std::string& problem = jvm_.hotspot.problem(); !problem.empty()) {
    jvm_.trace.losses.Add("samples.no_java_frames", Severity::kError, 1,
                          absl::StrCat("samples have no Java frames: ", problem),
                          "use an OpenJDK from 11 to 27");
  }
  for (const jvm::SectionProblem& problem : jvm_.hotspot.problems()) {
    const jvm::LayoutSectionText& text = jvm::TextOf(problem.section);
    jvm_.trace.losses.Add(absl::StrCat("jvm.", std::string(text.name)),
                          text.is_minor ? Severity::kInfo : Severity::kWarning, 1,
                          absl::StrCat("part of this JVM that is not as its tables say (",
                                       std::string(problem.what), "): ", std::string(text.without)),
                          "use an OpenJDK from 11 to 27");
  }
}

absl::Status SamplesPart::StartAppScope() {
  sampler().app_methods().Clear();
  if (!NeedsAppScope()) return absl::OkStatus();
  auto filter = classfile::ScopeFilter::Create(options_.include, options_.exclude);
  if (!filter.ok()) return filter.status();
  app_scope_ = std::make_unique<jvm::ApplicationMethods>(
      jvm_.env, jvm_.registries.classes, *std::move(filter), sampler().app_methods());
  return absl::OkStatus();
}

void SamplesPart::ReportKernelFrames() {
  const bool whole = options_.samples.stack == samples::StackMode::kFull ||
                     options_.samples.stack == samples::StackMode::kFrame ||
                     options_.samples.stack == samples::StackMode::kPc;
  // With a wall clock, most threads wait in the kernel and do not run its code.
  if (!whole || options_.samples.timer == Timer::kWall) return;
  Losses& losses = jvm_.trace.losses;
  if (sampler().has_kernel_frames()) {
    if (sampler().kernel_symbols().readable()) return;
    losses.Add("samples.no_kernel_names", Severity::kInfo, 1,
               "kernel whose /proc/kallsyms hides addresses: its frames have no names",
               "sysctl kernel.kptr_restrict=0, and a /proc/kallsyms that no container hides");
  } else if (sampler().kernel_frames_allowed()) {
    losses.Add("samples.no_kernel_frames", Severity::kInfo, 1,
               "timer without kernel frames: POSIX timers, the cheaper ones here, have none",
               "timer=perf:cpu-clock");
  } else {
    const bool has_event = options_.samples.timer == Timer::kPerfEvent;
    losses.Add("samples.no_kernel_frames", Severity::kInfo, 1,
               "timer without kernel frames: the kernel does not let this user have them",
               absl::StrCat(PerfEventRemedy(PerfEventError()),
                            has_event ? "" : ", and timer=perf:cpu-clock"));
  }
}

void SamplesPart::ReportForbiddenTimers() {
  if (sampler().timer_in_use() != samples::TimerKind::kCpuPosix) return;
  const int error = samples::PosixTimerError();
  if (error == 0) return;
  AddProblem(
      "samples.no_timers",
      absl::StrCat("no samples: the system forbids timers (timer_create: ", strerror(error), ")"),
      "let the container's seccomp profile allow timer_create, or timer=wall, or mode=events");
}

void SamplesPart::AddProblem(const char* name, const std::string& what, const std::string& remedy) {
  jvm_.trace.losses.Add(name, Severity::kWarning, 1, what, remedy);
  problem_ = absl::StrCat(what, "; ", remedy);
}

bool SamplesPart::WantsThread(uint64_t java_tid) const {
  return threads_.Wants(jvm_.registries.threads.Find(java_tid).name);
}

void SamplesPart::AddExisting(JNIEnv* jni) {
  if (app_scope_ != nullptr) app_scope_->AddLoaded(jni);
  for (const jvm::RunningThread& thread : jvm_.registries.threads.Running()) {
    if (!WantsThread(thread.numbers.java_tid)) continue;
    sampler()
        .AttachThread(thread.numbers.os_tid, thread.numbers.number, thread.numbers.java_tid,
                      thread.java_thread)
        .IgnoreError();
  }
  non_java_threads_->AttachAll();
}

void SamplesPart::ThreadStarted(JNIEnv* jni, const jvm::TraceThreadIds& numbers) {
  if (!options_.samples.threads.empty() && !WantsThread(numbers.java_tid)) return;
  sampler().AttachCurrentThread(jni, numbers.number, numbers.java_tid).IgnoreError();
}

void SamplesPart::ClassPrepared(jclass klass) {
  if (app_scope_ != nullptr) app_scope_->Add(klass);
}

void SamplesPart::Stop() {
  samples::Sampler* const prepared = jvm_.sampler.load();
  if (prepared == nullptr || prepared->Stop().ok()) return;
  jvm_.trace.losses.Add(
      "stop.handler_inside", Severity::kWarning, 1,
      "signal handlers that had not ended half a second after the stop: their samples are missing",
      "see which thread is stopped or waits for memory: the next recording waits for it");
}

std::vector<trace::ChunkSource*> SamplesPart::sources() {
  return {sample_source_.get(), non_java_threads_.get()};
}

std::string SamplesPart::TimerInUse() const {
  if (options_.samples.timer != Timer::kCpu) return TimerName(options_.samples);
  return sampler().timer_in_use() == samples::TimerKind::kCpuPerf ? "cpu (perf event)"
                                                                  : "cpu (POSIX timer)";
}

void SamplesPart::ReportEnd() {
  const std::vector<std::string> patterns = threads_.Unmatched();
  if (patterns.empty()) return;
  constexpr size_t kNames = 3;
  jvm_.trace.losses.Set(
      "threads.no_match", Severity::kWarning, patterns.size(),
      absl::StrCat("names in threads= that no thread had: ", absl::StrJoin(patterns, ";")),
      absl::StrCat("there were, among others: threads=",
                   absl::StrJoin(threads_.NearestTo(patterns[0], kNames), ";")));
}

void SamplesPart::AddToStart(proto::SessionStart& start) const {
  const SampleOptions& samples = options_.samples;
  start.set_timer(TimerInUse());
  start.set_jitter(sampler().has_jitter());
  start.set_stack(std::string(StackName(samples.stack)));
  if (samples.period != 0) {
    start.set_interval_events(samples.period);
  } else {
    start.set_interval_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(samples.interval)));
  }
}

std::string SamplesPart::Summary() const {
  std::string text = absl::StrCat(WithNoun(sample_source_->samples(), "sample"), ", ");
  const uint64_t dropped = jvm_.trace.losses.Count("sample.ring_full");
  if (dropped != 0) absl::StrAppend(&text, WithThousands(dropped), " more dropped, ");
  return text;
}

std::string SamplesPart::Status() const {
  return absl::StrCat("\nsamples   ", sample_source_->samples());
}

}  // namespace jtrace
