// The steps of a start and of a stop.
#include "agent/session/recording.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/hooks/hook_spec.h"
#include "agent/hot/sample_handler.h"
#include "agent/session/event_sets.h"
#include "agent/session/recording_settings.h"
#include "proto/trace_format.h"

namespace jtrace {
Recording::Recording(JvmParts& jvm, Gate<Recording>& gate, int& files_begun,
                     std::function<void()> wake)
    : jvm_(jvm),
      gate_(gate),
      wake_(std::move(wake)),
      file_(files_begun),
      module_source_(jvm.trace.encoder),
      loss_source_(jvm.trace.losses),
      ended_threads_(jvm.registries.threads) {}

Recording::~Recording() = default;

absl::Status Recording::Prepare(const Options& options) {
  jvm_.trace.losses.Clear();
  jvm_.trace.unprobed.Clear();
  jvm_.trace.clock.Restart();
  options_ = options;
  auto log = Log::Open(options.log, options.log_file);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  jvm_.trace.encoder.SetMajorsOff(options.codes_off);
  if (options.loop.on()) options_.out = writer::NumberedPattern(options.out);
  if (absl::Status status = file_.Open(options_.out); !status.ok()) return status;
  if (absl::Status status = hooks::CheckHooks(options.hooks); !status.ok()) return status;
  if (absl::Status status = PrepareMetrics(); !status.ok()) return status;
  if (options_.WantsEvents()) {
    auto classes = ProbedClasses::Create(jvm_, options_);
    if (!classes.ok()) return classes.status();
    classes_ = *std::move(classes);
  }
  // At an attach the sampler also finds the kernel's ids of running threads.
  if (!options_.WantsSamples() && !jvm_.is_live.load()) return absl::OkStatus();
  if (absl::Status status = SampleCollection::PrepareSampler(jvm_, options_); !status.ok()) {
    return status;
  }
  if (options_.WantsSamples()) samples_ = std::make_unique<SampleCollection>(jvm_, options_);
  return absl::OkStatus();
}

absl::Status Recording::PrepareMetrics() {
  auto numbers = jvm_.metrics->Numbers(options_.metrics);
  if (!numbers.ok()) return numbers.status();
  metric_numbers_ = *std::move(numbers);
  jvm_.metrics->Prepare(metric_numbers_);
  // Only call trees have call paths.
  const bool has_paths = options_.WantsEvents() && options_.record == RecordKind::kTree;
  calls_ = std::make_unique<CallCounting>(
      jvm_, has_paths ? jvm_.metrics->PathMetricsOf(metric_numbers_) : PathMetrics());
  return absl::OkStatus();
}

absl::Status Recording::BeginFile() { return file_.Begin(); }

absl::Status Recording::Begin(JNIEnv* jni, const Progress& progress) {
  try {
    return TryToBegin(jni, progress);
  } catch (const std::exception& failure) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory or no thread for the recording: ", failure.what(),
                     "; raise ulimit -v or ulimit -u"));
  }
}

absl::Status Recording::StartParts(JNIEnv* jni) {
  jvm_.registries.loaders.LearnJdk(jni);
  jvm_.registries.classes.LearnJvm(jvm_.libjvm_address());
  jvm_.metrics->Begin(metric_numbers_, jvm_.is_live.load(), jvm_.trace.losses);
  if (classes_ != nullptr) {
    absl::Status status = calls_->Start(jni, options_, classes_->instrumentation());
    if (!status.ok()) return status;
  }
  return StartSamples(jni);
}

absl::Status Recording::StartSamples(JNIEnv* jni) {
  sampling::Sampler* const sampler = jvm_.sampler.load();
  if (sampler == nullptr) return absl::OkStatus();
  if (samples_ == nullptr) return sampler->LearnJvm(jni);
  writer::SampleSource::NodeNumber node_number;
  if (calls_->has_trees()) {
    node_number = [this](uint64_t raw_node, jvmti::MethodKey innermost) {
      return calls_->TreePosition(raw_node, innermost, classes_->instrumentation());
    };
  }
  return samples_->Start(jni, std::move(node_number));
}

absl::Status Recording::TryToBegin(JNIEnv* jni, const Progress& progress) {
  if (absl::Status status = StartParts(jni); !status.ok()) return status;
  const bool is_live = jvm_.is_live.load();
  // At load the file was begun before the program ran. Here it is begun when nothing can fail any
  // more.
  if (is_live) {
    if (absl::Status status = BeginFile(); !status.ok()) return status;
  }
  began_ = absl::Now();
  if (is_live) ReportWhatComesTooLate();
  ReportGcCause();
  gate_.Open(*this);
  if (is_live) AdoptRunningThreads(jni);
  EnableRecordedEvents(jvm_, options_);
  // In a running JVM, methods get numbers before their classes change: threads may be inside them.
  if (is_live) jvm_.registries.classes.PrepareLoaded(jni, /*thread=*/0);
  if (classes_ != nullptr) classes_->AddToLoaded(jni, progress);
  jvm_.registries.classes.PrepareLoaded(jni, /*thread=*/0);
  if (samples_ != nullptr) {
    samples_->AddLoadedToScope(jni);
    samples_->AttachRunningThreads(jni);
    jvm_.env->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    jvm_.env->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  }
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kSession,
                               .minor = format::kSessionInitialised});
  StartWriter();
  StartHooks();
  log_->Line(absl::StrCat("recording to ", path(), " (", DescribeOptions(options_), ")"));
  return absl::OkStatus();
}

void Recording::AdoptRunningThreads(JNIEnv* jni) {
  jvmti::LocalFrame frame(jni);
  jint count = 0;
  jvmti::Allocated<jthread> running(jvm_.env);
  if (jvm_.env->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) return;
  const auto os_tid = [this](uintptr_t java_thread) {
    const pid_t tid = jvm_.sampler.load()->OsThreadId(java_thread);
    return tid == jvm_.agent_threads.control.load(std::memory_order_relaxed) ? -1 : tid;
  };
  for (jint i = 0; i < count; ++i) {
    jvm_.registries.threads.Adopt(jni, running[i], os_tid);
    jvm_.metrics->Adopt(jni, running[i]);
  }
}

std::vector<writer::ChunkSource*> Recording::Sources() {
  // Samples before trees: a node that a sample names was made before the sample was taken, so the
  // trees collected after it define the node.
  std::vector<writer::ChunkSource*> sources;
  if (samples_ != nullptr) sources = samples_->sources();
  if (metric_source_ != nullptr) sources.push_back(metric_source_.get());
  if (calls_->source() != nullptr) sources.push_back(calls_->source());
  if (classes_ != nullptr) sources.push_back(&classes_->instrumentation().totals());
  sources.push_back(&module_source_);
  sources.push_back(&jvm_.trace.limited_events);
  sources.push_back(&loss_source_);
  sources.push_back(&ended_threads_);
  sources.push_back(&jvm_.unloaded);
  return sources;
}

void Recording::StartWriter() {
  std::vector<uint32_t> by_thread = metric_numbers_;
  std::erase_if(by_thread, [this](uint32_t metric) {
    const auto& charged = calls_->path_metrics().numbers;
    return std::find(charged.begin(), charged.end(), metric) != charged.end();
  });
  if (!by_thread.empty()) {
    metric_source_ = std::make_unique<writer::MetricSource>(
        *jvm_.metrics, std::move(by_thread), jvm_.is_live.load(), jvm_.registries.groups,
        jvm_.trace.encoder);
  }
  module_source_.BeginFile();
  jvm_.written.store(this);
  drain_ = std::make_unique<writer::DrainThread>(
      jvm_.writer, jvm_.trace.clock, jvm_.trace.encoder, file_.file(), Sources(),
      PollPeriod(options_), hot::writer_doorbell,
      [this](const absl::Status& status) { Fail(status.message()); });
  drain_->Start(DescribeStart());
}

void Recording::StartHooks() {
  if (samples_ == nullptr) return;
  const bool wanted = options_.codes.Has(Code::kNativeHook);
  jvm_.hooks.Begin(wanted ? options_.hooks : std::vector<hooks::HookSpec>());
  // The writer already runs, and may have failed meanwhile.
  if (!gate_.is_open()) jvm_.hooks.End();
  if (jvm_.hooks.has_pending()) EnableBindEvents(jvm_.env);
}

absl::StatusOr<std::string> Recording::Stop(JNIEnv* jni, const Progress& progress) {
  jvm_.hooks.End();
  StopSampler();
  RemoveProbes(jni, progress);
  DisableRecordedEvents(jvm_);
  if (absl::Status written = EndTrace(proto::SessionEnd::STOPPED); !written.ok()) return written;
  return DescribeEnd();
}

void Recording::EndWithJvm() {
  gate_.Close();
  jvm_.hooks.End();
  DisableRecordedEvents(jvm_);
  StopSampler();
  EndTrace(proto::SessionEnd::VM_DEATH).IgnoreError();
}

void Recording::StopSampler() {
  sampling::Sampler* const sampler = jvm_.sampler.load();
  if (sampler != nullptr) sampler->Stop().IgnoreError();
}

void Recording::RemoveProbes(JNIEnv* jni, const Progress& progress) {
  gate_.Close();
  if (classes_ == nullptr) return;
  classes_->Remove(jni, progress, [this] { gate_.WaitUntilEmpty(kGatePatience); });
}

absl::Status Recording::EndTrace(proto::SessionEnd::Reason reason) {
  ReportEmptyScope();
  if (samples_ != nullptr) samples_->ReportUnmatchedThreads();
  ReportUnmatchedUnwinds();
  // Methods that were never called are listed too: --report=never.
  if (classes_ != nullptr) {
    jvm_.trace.encoder.DefineRoutinesOf(classes_->instrumentation().counted());
  }
  absl::Status written = drain_->Stop([&](proto::SessionEnd& end) { FinishEnd(reason, end); });
  if (written.ok()) log_->Line(DescribeEnd());  // else Fail has reported why
  return written;
}

void Recording::Fail(absl::string_view why) {
  gate_.Close();
  {
    absl::MutexLock lock(&failure_mutex_);
    failure_ = std::string(why);
  }
  LogToStderr(absl::StrCat("recording stopped, the program runs on: ", why));
  jvm_.hooks.End();
  DisableLiveEvents(jvm_.env);
  StopSampler();
  failed_.store(true);
  wake_();
}

std::string Recording::failure() const {
  absl::MutexLock lock(&failure_mutex_);
  return failure_;
}

void Recording::CleanUp(JNIEnv* jni) {
  jvm_.hooks.End();
  RemoveProbes(jni, nullptr);
  DisableRecordedEvents(jvm_);
  StopSampler();
  if (calls_ != nullptr) calls_->Idle();
  jvm_.registries.redefined.EndRecording();
  drain_.reset();
  // If the writer failed by now, it has switched off events that are still needed to count threads.
  if (jvm_.counts_threads.load()) CountThreads(jvm_);
  jvm_.written.store(nullptr);
  jvm_.trace.encoder.EndTrace();
  jvm_.is_live.store(true);
  jvm_.metrics->End();
}

void Recording::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  if (classes_ != nullptr) classes_->instrumentation().Forget(classes);
}

bool Recording::IsBehind() const {
  return calls_->source() != nullptr && calls_->source()->IsBehind();
}

}  // namespace jtrace
