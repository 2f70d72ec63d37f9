// The steps of a start and of a stop.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/classfile/scope_filter.h"
#include "agent/control/session_control.h"
#include "agent/hot/position.h"
#include "agent/hot/sample_handler.h"
#include "agent/probes/native_unwind.h"
#include "agent/recording_settings.h"
#include "agent/sampling/timers.h"
#include "agent/sampling/unwind_sites.h"
#include "agent/session.h"
#include "proto/trace_format.h"

namespace jtrace {
absl::StatusOr<std::string> Session::Start(JNIEnv* jni, const Options& options,
                                           const Progress& progress) {
  absl::MutexLock lock(&lifecycle_);
  return StartLocked(jni, options, progress);
}

absl::StatusOr<std::string> Session::Resume(JNIEnv* jni, const Progress& progress) {
  absl::MutexLock lock(&lifecycle_);
  if (file_number_ == 0) {
    return absl::FailedPreconditionError("nothing was recorded yet; use start");
  }
  Options options = options_;
  options.out = writer::NumberedPattern(options.out);
  return StartLocked(jni, options, progress);
}

absl::StatusOr<std::string> Session::StartLocked(JNIEnv* jni, const Options& options,
                                                 const Progress& progress) {
  if (recording_.load() || is_prepared_) {
    return absl::FailedPreconditionError(
        absl::StrCat("a recording runs already, to ", file_->path(), "; stop it first"));
  }
  if (drain_ != nullptr) WaitForGivingUp();
  if (has_failed()) CleanUp(jni);
  WaitForCallbacks();
  Options before = options_;
  absl::Status status = Prepare(options);
  if (status.ok()) {
    encoder_.BeginTrace(options.codes_off);
    threads_.Clear();
    groups_.Clear();
    status = Begin(jni, progress);
  }
  if (!status.ok()) {
    CleanUp(jni);
    options_ = std::move(before);  // for resume
    return status;
  }
  if (control::SessionControl* control = control_.load(); control != nullptr) control->Wake();
  return absl::StrCat("recording to ", writer::AbsolutePath(file_->path()), " (",
                      DescribeOptions(options_), ")", DescribeWarnings());
}

absl::Status Session::Prepare(const Options& options) {
  losses_.Clear();
  clock_.Restart();
  options_ = options;
  {
    absl::MutexLock lock(&failure_mutex_);
    failure_.clear();
  }
  auto log = Log::Open(options.log, options.log_file);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  encoder_.SetMajorsOff(options.codes_off);
  if (options.loop.on()) options_.out = writer::NumberedPattern(options.out);
  auto file = OpenFile();
  if (!file.ok()) return file.status();
  // The one before is closed now: nobody may be writing to it any more.
  file_ = *std::move(file);
  probes_ = nullptr;
  trees_ = nullptr;
  counts_ = nullptr;
  logs_ = nullptr;
  if (absl::Status status = CreateInstrumentation(); !status.ok()) return status;
  // At an attach the sampler also finds the kernel's ids of running threads.
  return options_.WantsSamples() || is_live_ ? CreateSampler() : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<writer::TraceFile>> Session::OpenFile() const {
  const auto now_s = static_cast<int64_t>(UnixNanos() / 1'000'000'000u);
  return writer::TraceFile::Open(
      writer::ExpandPath(options_.out, getpid(), now_s, file_number_ + 1));
}

absl::Status Session::BeginFile(writer::TraceFile& file) {
  if (absl::Status status = file.Begin(); !status.ok()) return status;
  ++file_number_;
  file_began_ = absl::Now();
  return absl::OkStatus();
}

absl::Status Session::CreateInstrumentation() {
  if (!options_.WantsEvents()) return absl::OkStatus();
  auto instrumentation = Instrumentation::Create(options_, loaders_, encoder_, losses_);
  if (!instrumentation.ok()) return instrumentation.status();
  // A class-file hook that hangs since the last recording keeps what it uses.
  WaitForClassHooks();
  if (!class_hooks_.Idle()) (void)instrumentation_.release();
  instrumentation_ = *std::move(instrumentation);
  return absl::OkStatus();
}

absl::Status Session::CreateSampler() {
  const sampling::SamplerOptions options = SamplerOptionsOf(options_);
  if (sampler_ != nullptr) return sampler_->Reconfigure(options);
  auto sampler =
      sampling::Sampler::Create(options, reinterpret_cast<const void*>(vm_->functions->GetEnv));
  if (!sampler.ok()) return sampler.status();
  sampler_ = *std::move(sampler);
  return absl::OkStatus();
}

absl::Status Session::Begin(JNIEnv* jni, const Progress& progress) {
  loaders_.LearnJdk(jni);
  classes_.LearnJvm(reinterpret_cast<const void*>(vm_->functions->GetEnv));
  if (absl::Status status = StartProbes(jni); !status.ok()) return status;
  if (absl::Status status = StartSampler(jni); !status.ok()) return status;
  // At load the file was begun before the program; here, when nothing can fail any more.
  if (is_live_) {
    if (absl::Status status = BeginFile(*file_); !status.ok()) return status;
  }
  began_ = absl::Now();
  if (is_live_) TellWhatComesTooLate();
  if (!gc_cause_.Find(reinterpret_cast<const void*>(vm_->functions->GetEnv))) {
    losses_.Add("gc.no_cause", Severity::kInfo, 1,
                "the JVM does not say why it collects garbage: it keeps no performance counters",
                "leave -XX:-UsePerfData out");
  }
  recording_.store(true);
  if (is_live_) AdoptRunningThreads(jni);
  EnableLiveEvents();
  // Live, methods have numbers before their classes change: threads may stand in them.
  if (is_live_) classes_.PrepareLoaded(jni, /*thread=*/0);
  AddProbesToLoaded(jni, progress);
  classes_.PrepareLoaded(jni, /*thread=*/0);
  if (app_scope_ != nullptr) app_scope_->AddLoaded(jni);
  if (options_.WantsSamples()) {
    AttachRunningThreads(jni);
    env_->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    env_->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  }
  encoder_.AddEvent(
      {.time_ns = clock_.Now(), .major = format::kSession, .minor = format::kSessionInitialised});
  StartWriter();
  log_->Line(absl::StrCat("recording to ", file_->path(), " (", DescribeOptions(options_), ")"));
  return absl::OkStatus();
}

namespace {

// A thread that clock=cpu cannot do justice to.
void TellVirtualThread(Losses& losses) {
  losses.Add(
      "clock.virtual_threads", Severity::kWarning, 1,
      "virtual threads with clock=cpu, whose waiting is in their base and total: they have no "
      "processor time of their own",
      "take processor time of virtual threads from samples: mode=merged");
}

}  // namespace

absl::Status Session::StartProbes(JNIEnv* jni) {
  if (!options_.WantsEvents()) return absl::OkStatus();
  auto set = probe_sets_.Use(env_, jni, ProbeOptionsOf(options_));
  if (!set.ok()) return set.status();
  probes_ = (*set)->probes.get();
  trees_ = (*set)->trees.get();
  counts_ = (*set)->counts.get();
  logs_ = (*set)->logs.get();
  TellClock();
  const auto routines = static_cast<uint32_t>(encoder_.routines() + 1);
  probes_->ClearCompiled(routines);
  instrumentation_->UseProbeClass(probes_->class_name());
  sampling::unwind_sites.Clear();
  if (!options_.unwinds.empty()) {
    absl::Status status = DefineUnwindProbe(jni, &sampling::UnwindAtEntry);
    if (!status.ok()) return status;
  }
  if (counts_ != nullptr) {
    counts_->BeginRecording(routines);
    call_source_ = std::make_unique<writer::FlatSource>(*counts_, threads_, groups_, encoder_);
  } else {
    const bool splits_time = probes_->clock() == hot::ProbeClock::kCpu;
    trees_->GroupBy([this, splits_time](uint64_t java_tid, bool is_virtual) {
      if (is_virtual && splits_time) TellVirtualThread(losses_);
      // A log is a thread's own, and so is the tree that counts what the log leaves out.
      return logs_ == nullptr ? groups_.Assign(java_tid, is_virtual) : 0;
    });
    trees_->BeginRecording();
    TickScale* scale = options_.clock != Clock::kNone ? &(*set)->probes->scale() : nullptr;
    writer::TreeSource source(*trees_, scale, threads_, groups_, encoder_, losses_);
    if (logs_ == nullptr) {
      call_source_ = std::make_unique<writer::TreeSource>(std::move(source));
    } else {
      logs_->BeginRecording(/*follow=*/options_.loop.on());
      call_source_ = std::make_unique<writer::LogSource>(
          clock_, *logs_, std::move(source), threads_, encoder_, losses_,
          writer::LogSource::Settings{options_.log_budget,
                                      !options_.codes_off.contains(format::kThreadSwitch)});
    }
  }
  return EnableClassFileEvents();
}

// What stands in for a clock that cannot be had.
void Session::TellClock() {
  const hot::ProbeClock wanted = ProbeClockOf(options_.clock);
  if (probes_->clock() == wanted) return;
  const bool wants_cpu = wanted == hot::ProbeClock::kCpu;
  losses_.Add(wants_cpu ? "clock.no_cpu" : "clock.no_tsc", Severity::kWarning, 1,
              wants_cpu ? "clock=cpu: this kernel or C library does not tell when a thread was off "
                          "its processor; times include waiting"
                        : "clock=tsc: the time-stamp counter cannot be used here; times are exact, "
                          "but reading System.nanoTime takes longer");
}

absl::Status Session::StartSampler(JNIEnv* jni) {
  if (sampler_ == nullptr) return absl::OkStatus();
  if (!options_.WantsSamples()) return sampler_->LearnJvm(jni);
  sampled_threads_ = NameFilter(options_.samples.threads);
  if (absl::Status status = StartAppScope(); !status.ok()) return status;
  if (absl::Status status = sampler_->Start(jni); !status.ok()) return status;
  TellKernelFrames();
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
      [this](uint64_t java_tid) { return groups_.NumberOfThread(java_tid); },
      std::move(node_number), options_.codes.Has(Code::kInterrupt));
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

// Threads that ran before the agent came, by name; whatever they run is not on the path of what
// they call from here on.
void Session::AdoptRunningThreads(JNIEnv* jni) {
  jvmti::LocalFrame frame(jni);
  jint count = 0;
  jvmti::Allocated<jthread> running(env_);
  if (env_->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) return;
  const auto os_tid = [this](uintptr_t java_thread) {
    const pid_t tid = sampler_->OsThreadId(java_thread);
    return tid == control_tid_.load(std::memory_order_relaxed) ? -1 : tid;
  };
  for (jint i = 0; i < count; ++i) threads_.Adopt(jni, running[i], os_tid);
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

void Session::StartWriter() {
  // Samples before trees: a node that a sample names was made before the sample was taken, so the
  // trees collected after it define the node.
  std::vector<writer::ChunkSource*> sources;
  if (sample_source_ != nullptr) sources.push_back(sample_source_.get());
  if (internal_threads_ != nullptr) sources.push_back(internal_threads_.get());
  if (call_source_ != nullptr) sources.push_back(call_source_.get());
  if (instrumentation_ != nullptr) sources.push_back(&instrumentation_->totals());
  module_source_.BeginFile();
  sources.push_back(&module_source_);
  sources.push_back(&limited_events_);
  sources.push_back(&loss_source_);
  sources.push_back(&ended_threads_);
  sources.push_back(&unloaded_);
  drain_ = std::make_unique<writer::DrainThread>(
      writer_, clock_, encoder_, *file_, std::move(sources), PollPeriod(options_),
      hot::writer_doorbell, [this](const absl::Status& status) { GiveUp(status.message()); });
  drain_->Start(DescribeStart());
}

absl::StatusOr<std::string> Session::Stop(JNIEnv* jni, const Progress& progress) {
  absl::MutexLock lock(&lifecycle_);
  if (has_failed()) {
    const std::string file = file_->path();
    CleanUp(jni);
    return absl::AbortedError(absl::StrCat("the recording had failed: ", failure(), "; ", file,
                                           " has what came before, no probe is left"));
  }
  if (!recording_.load()) {
    const std::string why = failure();
    return absl::FailedPreconditionError(
        absl::StrCat("no recording runs", why.empty() ? "" : "; the last one failed: ", why));
  }
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
  RemoveProbes(jni, progress);
  DisableEvents();
  const absl::Status written = EndTrace(proto::SessionEnd::STOPPED);
  const std::string summary = written.ok() ? DescribeEnd() : "";
  CleanUp(jni);
  if (!written.ok()) return written;
  return summary;
}

absl::Status Session::EndTrace(proto::SessionEnd::Reason reason) {
  TellEmptyScope();
  TellUnmatchedThreads();
  TellUnmatchedUnwinds();
  const absl::Status written =
      drain_->Stop([&](proto::SessionEnd& end) { FinishEnd(reason, end); });
  if (written.ok()) log_->Line(DescribeEnd());  // else GiveUp has said why
  return written;
}

void Session::CleanUp(JNIEnv* jni) {
  RemoveProbes(jni, nullptr);
  DisableEvents();
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
  if (probes_ != nullptr) probes_->Rest();
  redefined_.EndRecording();
  drain_.reset();
  BeLive();
  sample_source_.reset();
  call_source_.reset();
  internal_threads_.reset();
  file_.reset();
  failed_.store(false);
}

}  // namespace jtrace
