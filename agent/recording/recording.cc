#include "agent/recording/recording.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/recording_settings.h"
#include "agent/recording/recording_summary.h"
#include "agent/samples/handler/own_work.h"
#include "agent/samples/handler/sample_handler.h"
#include "proto/trace_format.h"

namespace jtrace {

Recording::Recording(JvmParts& jvm, Gate<Recording>& gate, int& files_begun,
                     std::function<void()> wake)
    : gate_(gate), wake_(std::move(wake)), parts_(jvm, files_begun), commands_(parts_) {}

Recording::~Recording() = default;

absl::Status Recording::Prepare(const Options& options) {
  parts_.jvm.trace.losses.Clear();
  parts_.jvm.trace.unprobed.Clear();
  parts_.jvm.trace.clock.Restart();
  parts_.options = options;
  auto log = Log::Open(options.log, options.log_file);
  if (!log.ok()) return log.status();
  parts_.log = *std::move(log);
  parts_.jvm.trace.encoder.SetCodes(options.codes);
  if (options.loop.on()) parts_.options.out = trace::NumberedPattern(options.out);
  parts_.file.SetKeep(options.keep);
  if (absl::Status status = parts_.file.Open(parts_.options.out); !status.ok()) return status;
  if (absl::Status status = native_hooks::CheckHooks(options.hooks); !status.ok()) return status;
  if (absl::Status status = PrepareMetrics(parts_); !status.ok()) return status;
  if (absl::Status status = PrepareSwitches(); !status.ok()) return status;
  if (absl::Status status = PrepareClasses(); !status.ok()) return status;
  if (absl::Status status = PrepareSamples(); !status.ok()) return status;
  step_.To(RecordingState::kPrepared);
  return absl::OkStatus();
}

absl::Status Recording::PrepareSamples() {
  const bool wanted = parts_.options.WantsSamples();
  // At an attach the sampler also finds the kernel's ids of running threads.
  if (!wanted && !parts_.jvm.is_live.load()) return absl::OkStatus();
  absl::Status status = SampleCollection::PrepareSampler(parts_.jvm, parts_.options);
  if (status.ok() && wanted) {
    parts_.samples = std::make_unique<SampleCollection>(parts_.jvm, parts_.options);
  }
  return status;
}

absl::Status Recording::PrepareClasses() {
  Options& options = parts_.options;
  RestingProbes* const resting = parts_.jvm.resting.load();
  const std::string why_not = resting != nullptr ? resting->WhyNot(options) : "";
  options.probes_rest = resting != nullptr && why_not.empty();
  if (!options.WantsEvents()) return absl::OkStatus();
  if (options.probes_rest) {
    options.include = resting->options().include;
    options.exclude = resting->options().exclude;
    options.memory_bytes = resting->options().memory_bytes;
    parts_.classes = resting->Lend(options);
    parts_.resting = resting;
    return absl::OkStatus();
  }
  auto classes = ProbedClasses::Create(parts_.jvm, options);
  if (!classes.ok()) return classes.status();
  parts_.classes = *std::move(classes);
  if (resting != nullptr) parts_.classes->ReplacesResting(why_not);
  return absl::OkStatus();
}

absl::Status Recording::PrepareSwitches() {
  if (!parts_.options.WantsSwitchRecords()) return absl::OkStatus();
  if (const auto trial = samples::SwitchRing::Open(gettid()); !trial.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("codes=+switch: ", trial.status().message()));
  }
  parts_.switches =
      std::make_unique<samples::SwitchSource>(parts_.jvm.trace.clock, parts_.jvm.trace.losses);
  parts_.calls->UseSwitches(parts_.switches.get());
  return absl::OkStatus();
}

absl::Status Recording::BeginFile() { return parts_.file.Begin(); }

absl::Status Recording::Begin(JNIEnv* jni) {
  try {
    return TryToBegin(jni);
  } catch (const std::bad_alloc&) {
    samples::TurnOff();
    return absl::ResourceExhaustedError("no memory for the recording; raise ulimit -v");
  } catch (const std::exception& failure) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory or no thread for the recording: ", failure.what(),
                     "; raise ulimit -v or ulimit -u"));
  }
}

absl::Status Recording::StartParts(JNIEnv* jni) {
  parts_.jvm.registries.loaders.LearnJdk(jni);
  parts_.jvm.registries.classes.sources().Learn(jni);
  parts_.jvm.registries.classes.LearnJvm(parts_.jvm.libjvm_address());
  parts_.jvm.registries.classes.NumberLater(NumbersMethodsLater(parts_.options));
  parts_.jvm.metrics->Begin(parts_.metric_numbers, parts_.jvm.is_live.load(),
                            HasTrees(parts_.options), parts_.jvm.trace.losses);
  if (parts_.classes != nullptr) {
    absl::Status status =
        parts_.calls->Start(jni, parts_.options, parts_.classes->instrumentation());
    if (!status.ok()) return status;
  }
  return StartSamples(jni);
}

absl::Status Recording::StartSamples(JNIEnv* jni) {
  samples::Sampler* const sampler = parts_.jvm.sampler.load();
  if (sampler == nullptr) return absl::OkStatus();
  if (parts_.samples == nullptr) return sampler->LearnJvm(jni);
  samples::SampleSource::NodeNumber node_number;
  if (parts_.calls->has_trees()) {
    node_number = [this](uint64_t raw_node, jvm::MethodKey innermost) {
      return parts_.calls->TreePosition(raw_node, innermost, parts_.classes->instrumentation());
    };
  }
  samples::SampleSource::PlaceAt place_at;
  if (parts_.options.sites) {
    place_at = [&jvm = parts_.jvm](jvm::MethodKey method, uint32_t bci) {
      const uint32_t routine = jvm.registries.classes.RoutineOf(method);
      return routine != 0 ? jvm.places.PlaceAt(routine, bci) : kNoCallPlace;
    };
  }
  absl::Status status = parts_.samples->Start(jni, std::move(node_number), std::move(place_at));
  if (!status.ok()) return status;
  parts_.samples->WakeWhenEnough(wake_);
  calls::CountedBlocks* const blocks =
      parts_.classes == nullptr ? nullptr : parts_.classes->instrumentation().blocks();
  if (blocks != nullptr) {
    parts_.samples->UseOriginalBci(
        [blocks](uint32_t routine, uint32_t bci) { return blocks->OriginalBci(routine, bci); });
  }
  return absl::OkStatus();
}

absl::Status Recording::TryToBegin(JNIEnv* jni) {
  if (absl::Status status = StartParts(jni); !status.ok()) return status;
  const bool is_live = parts_.jvm.is_live.load();
  // At load the file was begun before the program ran. Here it is begun when nothing can fail any
  // more.
  if (is_live) {
    if (absl::Status status = BeginFile(); !status.ok()) return status;
  }
  parts_.began = parts_.complete = absl::Now();
  if (is_live) ReportWhatComesTooLate(parts_);
  ReportGcCause(parts_);
  parts_.jvm.registries.classes.ForgetRecordedMethods();
  if (parts_.resting != nullptr) parts_.resting->BeginTrace();
  if (!step_.To(RecordingState::kRunning)) {
    return absl::FailedPreconditionError("the recording is not prepared, or runs already");
  }
  gate_.Open(*this);
  if (is_live) AdoptRunningThreads(jni);
  EnableRecordedEvents(parts_.jvm, parts_.options);
  AttachSwitches(jni);
  // In a running JVM, before classes change: threads may be inside their methods.
  if (is_live) parts_.jvm.registries.classes.PrepareLoaded(jni, /*thread=*/0);
  if (parts_.classes != nullptr) {
    is_live ? parts_.classes->PlanAdding(jni) : parts_.classes->AddToLoaded(jni);
  }
  parts_.jvm.registries.classes.PrepareLoaded(jni, /*thread=*/0);
  if (parts_.samples != nullptr) {
    parts_.samples->AddLoadedToScope(jni);
    parts_.samples->AttachRunningThreads(jni);
  }
  if (parts_.options.WantsStubs()) {
    parts_.jvm.env->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  }
  parts_.jvm.code_reports.ReportExisting();
  parts_.jvm.registries.classes.RecordMethodsOfLoaded(jni);
  parts_.calls->Open();
  parts_.jvm.trace.encoder.AddEvent({.time_ns = parts_.jvm.trace.clock.Now(),
                                     .major = format::kSession,
                                     .minor = format::kSessionInitialised});
  StartWriter();
  StartHooks();
  parts_.log->Line(
      absl::StrCat("recording to ", path(), " (", DescribeOptions(parts_.options), ")"));
  if (parts_.samples != nullptr && !parts_.samples->problem().empty()) {
    parts_.log->Line(parts_.samples->problem());
  }
  return absl::OkStatus();
}

void Recording::AdoptRunningThreads(JNIEnv* jni) {
  const auto os_tid = [this](uintptr_t java_thread) {
    const pid_t tid = parts_.jvm.sampler.load()->jvm().OsThreadId(java_thread);
    return tid == parts_.jvm.agent_threads.control.load(std::memory_order_relaxed) ? -1 : tid;
  };
  jvm::ForEachThread(parts_.jvm.env, jni, [&](jthread thread) {
    parts_.jvm.registries.threads.Adopt(jni, thread, os_tid);
    parts_.jvm.metrics->Adopt(jni, thread);
  });
}

void Recording::AttachSwitches(JNIEnv* jni) {
  if (parts_.switches == nullptr) return;
  jvm::ForEachThread(parts_.jvm.env, jni, [&](jthread thread) {
    const jvm::ThreadNumbers found = parts_.jvm.registries.threads.FindRunning(jni, thread).numbers;
    if (found.number != 0 && found.os_tid != 0) {
      parts_.switches->Attach(found.number, found.os_tid);
    }
  });
}

std::vector<trace::ChunkSource*> Recording::Sources() {
  // Samples before trees: a node that a sample names was made before the sample was taken, so the
  // trees collected after it define the node.
  std::vector<trace::ChunkSource*> sources;
  if (parts_.samples != nullptr) sources = parts_.samples->sources();
  if (parts_.switches != nullptr) sources.insert(sources.begin(), parts_.switches.get());
  if (parts_.metric_source != nullptr) sources.push_back(parts_.metric_source.get());
  if (parts_.calls->source() != nullptr) sources.push_back(parts_.calls->source());
  if (parts_.live_objects_source != nullptr) sources.push_back(parts_.live_objects_source.get());
  if (parts_.classes != nullptr) {
    calls::Instrumentation& instrumentation = parts_.classes->instrumentation();
    sources.push_back(&instrumentation.totals());
    sources.push_back(&instrumentation.method_hooks());
    if (instrumentation.blocks() != nullptr) sources.push_back(instrumentation.blocks());
  }
  sources.push_back(&parts_.module_source);
  sources.push_back(&parts_.jvm.segments);
  sources.push_back(&parts_.jvm.trace.limited_events);
  sources.push_back(&parts_.loss_source);
  sources.push_back(&parts_.ended_threads);
  sources.push_back(&parts_.jvm.unloaded);
  return sources;
}

void Recording::StartWriter() {
  MakeMetricSources(parts_);
  parts_.module_source.BeginFile();
  parts_.jvm.written.store(this);
  parts_.drain = std::make_unique<trace::DrainThread>(
      parts_.jvm.writer, parts_.jvm.trace.clock, parts_.jvm.trace.encoder, parts_.file.file(),
      Sources(), PollPeriod(parts_.options), samples::writer_doorbell,
      [this](const absl::Status& status) { Fail(status.message()); });
  NameProgram(parts_);
  // Before: if the first write fails, nobody is to wait any longer.
  if (parts_.options.log_waits) parts_.calls->LetThreadsWait();
  parts_.drain->Start(DescribeStart(parts_));
}

void Recording::StartHooks() {
  if (parts_.samples == nullptr) return;
  const bool wanted = parts_.options.codes.Has(Code::kNativeHook);
  parts_.jvm.hooks.Begin(wanted ? parts_.options.hooks : std::vector<native_hooks::HookSpec>());
  // The writer already runs, and may have failed meanwhile.
  if (state() != RecordingState::kRunning) parts_.jvm.hooks.End();
  if (parts_.jvm.hooks.has_pending()) EnableBindEvents(parts_.jvm.env);
}

bool Recording::IsAdding() const { return parts_.classes != nullptr && parts_.classes->IsAdding(); }

void Recording::AddBatch(JNIEnv* jni) {
  parts_.classes->AddBatch(jni, [this](jclass klass) {
    if (parts_.samples != nullptr) parts_.samples->NotePrepared(klass);
  });
  if (parts_.classes->IsAdding()) return;
  parts_.complete = absl::Now();
  // Methods may have been compiled before their numbers were known.
  parts_.jvm.code_reports.ReportExisting();
}

// The trace ends before the probes are removed, which may take long: what it counts has one end.
absl::StatusOr<std::string> Recording::Stop(JNIEnv* jni) {
  parts_.jvm.hooks.End();
  StopSampler();
  commands_.NoteOpenActivations();
  parts_.calls->Rest();
  PlanRemoving(jni);
  const bool has_enough = parts_.samples != nullptr && parts_.samples->HasEnough();
  const auto reason = has_enough ? proto::SessionEnd::SAMPLES : proto::SessionEnd::STOPPED;
  if (absl::Status written = EndTrace(reason); !written.ok()) return written;
  return DescribeEnd(parts_, reason);
}

void Recording::EndWithJvm() {
  gate_.Close();
  parts_.jvm.hooks.End();
  DisableRecordedEvents(parts_.jvm);
  StopSampler();
  commands_.NoteOpenActivations();
  commands_.QueryTrees([](metrics::TreeWindows& windows) { windows.StopWatching(); }).IgnoreError();
  EndTrace(proto::SessionEnd::VM_DEATH).IgnoreError();
}

void Recording::StopSampler() {
  samples::Sampler* const sampler = parts_.jvm.sampler.load();
  if (sampler == nullptr || sampler->Stop().ok()) return;
  parts_.jvm.trace.losses.Add(
      "stop.handler_inside", Severity::kWarning, 1,
      "signal handlers that had not ended half a second after the stop: their samples are missing",
      "see which thread is stopped or waits for memory: the next recording waits for it");
}

void Recording::WaitForCallbacks() {
  if (gate_.WaitUntilEmpty(kGatePatience)) return;
  parts_.jvm.trace.losses.Add(
      "stop.callback_inside", Severity::kWarning, 1,
      "callbacks of the JVM that had not ended a second after the stop: what they see is missing",
      "stop when the machine is less busy");
}

void Recording::PlanRemoving(JNIEnv* jni) {
  gate_.Close();
  DisableRecordedEvents(parts_.jvm);
  if (parts_.classes == nullptr) return;
  WaitForCallbacks();
  parts_.resting != nullptr ? parts_.classes->DropPlan(jni) : parts_.classes->PlanRemoving(jni);
}

bool Recording::RemoveBatch(JNIEnv* jni) {
  return parts_.classes != nullptr && parts_.resting == nullptr && parts_.classes->RemoveBatch(jni);
}

std::string Recording::DescribeLeft() const {
  const std::string left = parts_.classes == nullptr ? "" : parts_.classes->DescribeLeft();
  return left.empty() ? "" : absl::StrCat("\nwarning: ", left);
}

void Recording::RemoveProbes(JNIEnv* jni) {
  gate_.Close();
  if (parts_.resting != nullptr) {
    WaitForCallbacks();
    parts_.classes->DropPlan(jni);
    parts_.resting->EndTrace();
  } else if (parts_.classes != nullptr) {
    parts_.classes->Remove(jni, [this] { WaitForCallbacks(); });
  }
  if (parts_.jvm.resting.load() == nullptr) DisableClassFileEvents(parts_.jvm.env);
}

absl::Status Recording::EndTrace(proto::SessionEnd::Reason reason) {
  ReportEmptyScope(parts_);
  if (parts_.samples != nullptr) parts_.samples->ReportUnmatchedThreads();
  ReportUnmatchedUnwinds(parts_);
  // Methods that were never called are listed too: --report=never.
  if (parts_.classes != nullptr) {
    parts_.jvm.trace.encoder.DefineRoutinesOf(parts_.classes->instrumentation().counted());
  }
  absl::Status written =
      parts_.drain->Stop([&](proto::SessionEnd& end) { FinishEnd(parts_, reason, end); });
  if (written.ok()) parts_.log->Line(DescribeEnd(parts_, reason));  // else Fail has reported why
  return written;
}

// The writer's thread may call this, which the JVM does not know: no JVMTI and no JNI. The control
// thread, which this wakes, does the rest.
void Recording::Fail(absl::string_view why) {
  step_.To(RecordingState::kFailing);
  gate_.Close();
  {
    absl::MutexLock lock(&failure_mutex_);
    failure_ = std::string(why);
  }
  // TurnOff has said so.
  if (!samples::agent_is_off.load()) {
    LogToStderr(absl::StrCat("recording stopped, the program runs on: ", why));
  }
  if (parts_.calls != nullptr) parts_.calls->EndWaits();
  parts_.jvm.hooks.End();
  StopSampler();
  step_.To(RecordingState::kFailed);
  wake_();
}

std::string Recording::failure() const {
  absl::MutexLock lock(&failure_mutex_);
  return failure_;
}

void Recording::CleanUp(JNIEnv* jni) {
  parts_.jvm.hooks.End();
  RemoveProbes(jni);
  DisableRecordedEvents(parts_.jvm);
  StopSampler();
  if (parts_.calls != nullptr) parts_.calls->Idle();
  parts_.jvm.registries.redefined.EndRecording();
  parts_.drain.reset();
  if (parts_.calls != nullptr) parts_.calls->EndWaits();  // if no writer began
  parts_.jvm.written.store(nullptr);
  parts_.jvm.trace.encoder.EndTrace();
  parts_.jvm.is_live.store(true);
  parts_.jvm.metrics->End();
}

void Recording::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  if (parts_.classes != nullptr) parts_.classes->instrumentation().Forget(classes);
}

bool Recording::IsBehind() const {
  return parts_.calls->source() != nullptr && parts_.calls->source()->IsBehind();
}

}  // namespace jtrace
