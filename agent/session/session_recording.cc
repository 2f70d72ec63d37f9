// The steps of a start and of a stop.
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/hot/sample_handler.h"
#include "agent/session/recording_settings.h"
#include "agent/session/session.h"
#include "agent/session/session_control.h"
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
    status = TryToBegin(jni, progress);
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
  unprobed_.Clear();
  loaded_have_probes_.store(false);
  has_late_classes_.store(false);
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
  if (absl::Status status = hooks::CheckHooks(options.hooks); !status.ok()) return status;
  if (absl::Status status = PrepareMetrics(); !status.ok()) return status;
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

absl::Status Session::TryToBegin(JNIEnv* jni, const Progress& progress) {
  try {
    return Begin(jni, progress);
  } catch (const std::exception& failure) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory or no thread for the recording: ", failure.what(),
                     "; raise ulimit -v or ulimit -u"));
  }
}

absl::Status Session::Begin(JNIEnv* jni, const Progress& progress) {
  loaders_.LearnJdk(jni);
  classes_.LearnJvm(reinterpret_cast<const void*>(vm_->functions->GetEnv));
  DefineQuestions(jni);
  metrics_->Begin(metric_numbers_, is_live_, losses_);
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
  StartHooks();
  log_->Line(absl::StrCat("recording to ", file_->path(), " (", DescribeOptions(options_), ")"));
  return absl::OkStatus();
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
  for (jint i = 0; i < count; ++i) {
    threads_.Adopt(jni, running[i], os_tid);
    metrics_->Adopt(jni, running[i]);
  }
}

void Session::StartWriter() {
  std::vector<uint32_t> by_thread = metric_numbers_;
  std::erase_if(by_thread, [this](uint32_t metric) {
    const auto& charged = path_metrics_.numbers;
    return std::find(charged.begin(), charged.end(), metric) != charged.end();
  });
  if (!by_thread.empty()) {
    metric_source_ = std::make_unique<writer::MetricSource>(*metrics_, std::move(by_thread),
                                                            is_live_, groups_, encoder_);
  }
  // Samples before trees: a node that a sample names was made before the sample was taken, so the
  // trees collected after it define the node.
  std::vector<writer::ChunkSource*> sources;
  if (sample_source_ != nullptr) sources.push_back(sample_source_.get());
  if (internal_threads_ != nullptr) sources.push_back(internal_threads_.get());
  if (hook_source_ != nullptr) sources.push_back(hook_source_.get());
  if (metric_source_ != nullptr) sources.push_back(metric_source_.get());
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
  hooks_.End();
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
  // What was never called is told too: --report=never.
  if (instrumentation_ != nullptr) encoder_.TellRoutinesOf(instrumentation_->counted());
  const absl::Status written =
      drain_->Stop([&](proto::SessionEnd& end) { FinishEnd(reason, end); });
  if (written.ok()) log_->Line(DescribeEnd());  // else GiveUp has said why
  return written;
}

void Session::CleanUp(JNIEnv* jni) {
  hooks_.End();
  RemoveProbes(jni, nullptr);
  DisableEvents();
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
  if (probes_ != nullptr) probes_->Rest();
  redefined_.EndRecording();
  drain_.reset();
  BeLive();
  sample_source_.reset();
  hook_source_.reset();
  metrics_->End();
  call_source_.reset();
  windows_.reset();
  metric_source_.reset();
  internal_threads_.reset();
  file_.reset();
  failed_.store(false);
}

}  // namespace jtrace
