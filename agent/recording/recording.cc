#include "agent/recording/recording.h"

#include <algorithm>
#include <exception>
#include <ranges>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "agent/base/agent_thread.h"
#include "agent/recording/context_switches_part.h"
#include "agent/recording/events_part.h"
#include "agent/recording/hooks_part.h"
#include "agent/recording/metrics_part.h"
#include "agent/recording/probe_settings.h"
#include "agent/recording/resting_probes.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "agent/signal_safe/doorbell.h"
#include "common/counted.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

constexpr absl::Duration kSizeCheckPeriod = absl::Seconds(1);

// How often the writer reads the rings. A thread's ring holds about 500 samples with stacks of
// usual depth; its log's ring holds half a million events.
absl::Duration PollPeriod(const Options& options) {
  constexpr int kSamplesBetweenPolls = 150;
  if (options.WantsCalls() && options.record == RecordKind::kLog) return absl::Milliseconds(5);
  const bool unwinds_hooks =
      std::ranges::any_of(options.hooks, [](const native_hooks::HookSpec& spec) {
        return spec.kind == native_hooks::HookKind::kUnwind;
      });
  if (options.WantsUnwinds() || unwinds_hooks) return absl::Milliseconds(5);
  // The rate of an event is unknown, and may be high.
  if (options.samples.period != 0) return absl::Milliseconds(10);
  // With samples= the recording is to end soon after that many.
  const auto longest = absl::Milliseconds(options.max_samples != 0 ? 10 : 100);
  return std::clamp(options.samples.interval * kSamplesBetweenPolls, absl::Milliseconds(5),
                    longest);
}

// Whether methods get numbers only when a sample or a record of compiled code has them.
bool NumbersMethodsLater(const Options& options) { return !options.codes.Has(Code::kClassMethod); }

}  // namespace

Recording::Recording(AgentState& agent, Gate<Recording>& gate, int& files_begun,
                     std::function<void()> wake)
    : agent_(agent),
      jvm_(agent.jvm),
      gate_(gate),
      wake_(std::move(wake)),
      file_(files_begun, agent.jvm.trace.losses),
      module_source_(agent.jvm.trace.encoder),
      loss_source_(agent.jvm.trace.losses),
      ended_threads_(agent.jvm.registries.threads) {}

Recording::~Recording() = default;

template <typename Part, typename... Arguments>
Part* Recording::Add(Arguments&&... arguments) {
  parts_.push_back(std::make_unique<Part>(std::forward<Arguments>(arguments)...));
  return static_cast<Part*>(parts_.back().get());
}

void Recording::ForEachFromBack(absl::FunctionRef<void(RecordingPart&)> step) {
  for (const auto& part : parts_ | std::views::reverse) step(*part);
}

void Recording::MakeParts() {
  std::unique_ptr<ContextSwitchesPart> switches;
  if (options_.WantsSwitchRecords()) switches = std::make_unique<ContextSwitchesPart>(jvm_);
  Add<EventsPart>(jvm_, agent_.events, options_);
  auto* const metrics = Add<MetricsPart>(jvm_, agent_.metrics, options_);
  if (options_.WantsCalls()) {
    calls_ = Add<CallsPart>(agent_, options_, *metrics,
                            switches != nullptr ? &switches->source() : nullptr, wake_,
                            [this] { WaitForCallbacks(); });
  }
  if (options_.WantsSamples()) samples_ = Add<SamplesPart>(agent_, options_, calls_, wake_);
  code_ = Add<CompiledCodePart>(jvm_, agent_.code_reports, options_);
  if (switches != nullptr) parts_.push_back(std::move(switches));
  if (samples_ != nullptr) Add<HooksPart>(jvm_, agent_.hooks, options_, *samples_);
}

absl::Status Recording::Prepare(const Options& options) {
  jvm_.trace.losses.Clear();
  jvm_.trace.unprobed.Clear();
  jvm_.trace.clock.Restart();
  options_ = options;
  options_.probes_rest = false;
  if (const RestingProbes* resting = agent_.probes.resting.load(); resting != nullptr) {
    resting->FitOptions(options_);
  }
  auto log = MessageLog::Open(options.log, options.log_file);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  jvm_.trace.encoder.SetCodes(options.codes);
  if (options.loop.on()) options_.out = trace::NumberedPattern(options.out);
  file_.SetKeep(options.keep);
  if (absl::Status status = file_.Open(options_.out); !status.ok()) return status;
  // In a running JVM the sampler is needed in any case, to find the kernel's ids of threads.
  if (!options.WantsSamples() && jvm_.program_runs.load()) {
    if (absl::Status status = PrepareSampler(jvm_, options_); !status.ok()) return status;
  }
  MakeParts();
  for (const auto& part : parts_) {
    if (absl::Status status = part->Prepare(); !status.ok()) return status;
  }
  if (state_.TryEnter(RecordingState::kPrepared)) return absl::OkStatus();
  return absl::FailedPreconditionError("the recording is prepared already");
}

absl::Status Recording::Begin(JNIEnv* jni) {
  try {
    return TryToBegin(jni);
  } catch (const std::bad_alloc&) {
    signal_safe::DisableAgent();
    return absl::ResourceExhaustedError("no memory for the recording; raise ulimit -v");
  } catch (const std::exception& failure) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory or no thread for the recording: ", failure.what(),
                     "; raise ulimit -v or ulimit -u"));
  }
}

absl::Status Recording::StartParts(JNIEnv* jni) {
  Registries& registries = jvm_.registries;
  registries.loaders.FindPlatformLoader(jni);
  registries.classes.locations().FindFields(jni);
  registries.classes.ReadJvm(jvm_.libjvm_address());
  registries.classes.NumberMethodsLazily(NumbersMethodsLater(options_));
  if (calls_ != nullptr) ChooseTreeMemory(agent_.probes, jni, options_);
  for (const auto& part : parts_) {
    if (absl::Status status = part->Start(jni); !status.ok()) return status;
  }
  samples::Sampler* const sampler = jvm_.sampler.load();
  if (samples_ == nullptr && sampler != nullptr) return sampler->ResolveJvm(jni);
  return absl::OkStatus();
}

absl::Status Recording::TryToBegin(JNIEnv* jni) {
  if (absl::Status status = StartParts(jni); !status.ok()) return status;
  // At load the file was begun before the program ran. Here it is begun when nothing can fail any
  // more.
  if (jvm_.program_runs.load()) {
    if (absl::Status status = BeginFile(); !status.ok()) return status;
  }
  began_ = complete_ = absl::Now();
  for (const auto& part : parts_) part->ReportStart();
  jvm_.registries.classes.ForgetRecordedMethods();
  if (!state_.TryEnter(RecordingState::kRunning)) {
    return absl::FailedPreconditionError("the recording is not prepared, or runs already");
  }
  gate_.Open(*this);
  Run(jni);
  log_->Line(absl::StrCat("recording to ", path(), " (", DescribeOptions(options_), ")"));
  for (const auto& part : parts_) {
    if (const std::string problem = part->Problem(); !problem.empty()) log_->Line(problem);
  }
  return absl::OkStatus();
}

void Recording::Run(JNIEnv* jni) {
  jvm::ClassRegistry& classes = jvm_.registries.classes;
  if (jvm_.program_runs.load()) AdoptRunningThreads(jni);
  for (const auto& part : parts_) part->Listen(jni);
  for (const auto& part : parts_) part->AddExisting(jni);
  classes.RecordMethodsOfLoaded(jni);
  for (const auto& part : parts_) part->Run();
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kSession,
                               .minor = format::kSessionInitialised});
  program_ = ProgramOf(jvm_.env);
  StartWriter();
  const bool is_running = state() == RecordingState::kRunning;
  for (const auto& part : parts_) part->WriterStarted(is_running);
}

void Recording::AdoptRunningThreads(JNIEnv* jni) {
  const auto os_tid = [this](uintptr_t java_thread) {
    const pid_t tid = jvm_.hotspot.OsThreadId(java_thread);
    return IsAgentThread(tid) ? -1 : tid;
  };
  jvm::ForEachThread(jvm_.env, jni, [&](jthread thread) {
    jvm_.registries.threads.Adopt(jni, thread, os_tid);
    agent_.metrics.Adopt(jni, thread);
  });
}

// From the back of the list, so samples before trees: a node that a sample names was made before
// the sample was taken, so the trees that are collected after it define the node.
std::vector<trace::ChunkSource*> Recording::Sources() {
  std::vector<trace::ChunkSource*> sources;
  ForEachFromBack([&](RecordingPart& part) {
    for (trace::ChunkSource* source : part.sources()) sources.push_back(source);
  });
  sources.insert(sources.end(),
                 {&module_source_, &loss_source_, &ended_threads_, &agent_.unloaded});
  return sources;
}

void Recording::StartWriter() {
  module_source_.BeginFile();
  agent_.recording_being_written.store(this);
  writer_ = std::make_unique<trace::TraceWriter>(
      agent_.writer, jvm_.trace.clock, jvm_.trace.encoder, file_.file(), Sources(),
      PollPeriod(options_), signal_safe::writer_doorbell,
      [this](const absl::Status& status) { Fail(status.message()); });
  writer_->Start(DescribeStart());
}

void Recording::AddBatch(JNIEnv* jni) {
  calls_->AddBatch(jni, [this](jclass klass) {
    if (samples_ != nullptr) samples_->ClassPrepared(klass);
  });
  if (calls_->IsAdding()) return;
  complete_ = absl::Now();
  code_->ReportCompiledMethods();
}

// The trace ends before the probes are removed, which may take long, so all counts end at one time.
absl::StatusOr<std::string> Recording::Stop(JNIEnv* jni) {
  const bool has_enough = samples_ != nullptr && samples_->HasEnough();
  ForEachFromBack([](RecordingPart& part) { part.Stop(); });
  ForEachFromBack([](RecordingPart& part) { part.CompleteCounts(); });
  gate_.Close();
  ForEachFromBack([](RecordingPart& part) { part.StopListening(); });
  if (calls_ != nullptr) calls_->PlanRemoving(jni);
  const auto reason = has_enough ? proto::SessionEnd::SAMPLES : proto::SessionEnd::STOPPED;
  absl::Status written = EndTrace(reason);
  if (!state_.TryEnter(RecordingState::kRemoving))
    written.Update(absl::InternalError("no stop runs"));
  if (!written.ok()) return written;
  return DescribeEnd(reason);
}

void Recording::EndWithJvm() {
  gate_.Close();
  ForEachFromBack([](RecordingPart& part) { part.Stop(); });
  ForEachFromBack([](RecordingPart& part) { part.CompleteCounts(); });
  ForEachFromBack([](RecordingPart& part) { part.StopListening(); });
  QueryTrees([](metrics::TreeWindows& windows) { windows.StopWatching(); }).IgnoreError();
  EndTrace(proto::SessionEnd::VM_DEATH).IgnoreError();
  (void)state_.TryEnter(RecordingState::kEnded);
}

void Recording::WaitForCallbacks() {
  if (gate_.WaitUntilEmpty(kGateTimeout)) return;
  jvm_.trace.losses.Add(
      "stop.callback_inside", Severity::kWarning, 1,
      "callbacks of the JVM that had not ended a second after the stop: what they see is missing",
      "stop when the machine is less busy");
}

bool Recording::BeginRemoving(JNIEnv* jni) {
  if (state() == RecordingState::kFailed && calls_ != nullptr) {
    ForEachFromBack([](RecordingPart& part) { part.StopListening(); });
    calls_->PlanRemoving(jni);
  }
  return state_.TryEnter(RecordingState::kRemoving);
}

std::string Recording::DescribeKeptProbes() const {
  const std::string left = calls_ == nullptr ? "" : calls_->DescribeKeptProbes();
  return left.empty() ? "" : absl::StrCat("\nwarning: ", left);
}

absl::Status Recording::EndTrace(proto::SessionEnd::Reason reason) {
  for (const auto& part : parts_) part->ReportEnd();
  absl::Status written = writer_->Stop([&](proto::SessionEnd& end) { FinishEnd(reason, end); });
  if (written.ok()) log_->Line(DescribeEnd(reason));  // else Fail has reported why
  return written;
}

// Uses no JVMTI and no JNI, because the writer thread, which is not a Java thread, may call it.
// The control thread, which this wakes, does the rest.
void Recording::Fail(absl::string_view why) {
  const bool begins_failing = state_.TryEnter(RecordingState::kFailing);
  gate_.Close();
  bool is_first = false;
  {
    absl::MutexLock lock(&failure_mutex_);
    is_first = failure_.empty();
    if (is_first) failure_ = std::string(why);  // later ones follow from it
  }
  // If the agent is off, DisableAgent has written why.
  if (is_first && !signal_safe::agent_is_disabled.load()) {
    LogToStderr(absl::StrCat("recording stopped, the program runs on: ", why));
  }
  ForEachFromBack([](RecordingPart& part) { part.ReleaseWaitingThreads(); });
  ForEachFromBack([](RecordingPart& part) { part.Stop(); });
  if (begins_failing && !state_.TryEnter(RecordingState::kFailed)) return;
  wake_();
}

std::string Recording::failure() const {
  absl::MutexLock lock(&failure_mutex_);
  return failure_;
}

void Recording::CleanUp(JNIEnv* jni) {
  (void)state_.TryEnter(RecordingState::kEnded);
  gate_.Close();
  ForEachFromBack([](RecordingPart& part) { part.Stop(); });
  ForEachFromBack([](RecordingPart& part) { part.StopListening(); });
  ForEachFromBack([](RecordingPart& part) { part.ReleaseWaitingThreads(); });
  // After a failure the writer still runs, and reads its sources once more when it ends. So it ends
  // before the parts free what these read.
  writer_.reset();
  agent_.recording_being_written.store(nullptr);
  ForEachFromBack([&](RecordingPart& part) { part.CleanUp(jni); });
  jvm_.registries.redefined.EndRecording();
  jvm_.trace.encoder.EndTrace();
  jvm_.program_runs.store(true);
}

void Recording::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  if (calls_ != nullptr) calls_->Forget(classes);
}

absl::StatusOr<std::string> Recording::Flush() {
  ForEachPart([](RecordingPart& part) { part.CompleteCounts(); });
  if (absl::Status status = writer_->Flush(); !status.ok()) return status;
  return trace::AbsolutePath(path());
}

absl::StatusOr<std::string> Recording::NextFile() {
  auto ended = file_.Next(options_.out);
  if (!ended.ok()) {
    jvm_.trace.losses.Add(
        "loop.no_file", Severity::kWarning, 1,
        absl::StrCat("the next file could not be begun, the recording continues in the old one: ",
                     ended.status().message()));
    return ended.status();
  }
  ForEachPart([](RecordingPart& part) { part.CompleteCounts(); });
  proto::SessionStart first = DescribeStart();
  first.set_file_begin_ns(jvm_.trace.clock.Now());
  const absl::Status status = writer_->NextFile(
      file_.file(), std::move(first),
      [this](proto::SessionEnd& end) { FinishEnd(proto::SessionEnd::STOPPED, end); });
  std::string path = trace::AbsolutePath((*ended)->path());
  // A file that could not be written to its end is added, too: keep= removes it in its turn.
  file_.AddEnded(*std::move(ended));
  if (!status.ok()) return status;
  return path;
}

absl::Status Recording::QueryTrees(absl::FunctionRef<void(metrics::TreeWindows&)> ask) {
  metrics::TreeWindows* const windows = calls_ != nullptr ? calls_->windows() : nullptr;
  if (windows == nullptr) {
    return absl::FailedPreconditionError(
        "this recording keeps no call trees; begin one with record=tree, and mode=merged or "
        "mode=events");
  }
  writer_->Call([&] { ask(*windows); });
  return absl::OkStatus();
}

Due Recording::WhatIsDue(absl::Time now) {
  if (calls_ != nullptr && calls_->classes().ConsumeLateClasses()) {
    return {.what = Due::kAddProbes, .next = now};
  }
  const absl::Time end = IsAdding() ? absl::InfiniteFuture() : complete_ + options_.duration;
  const bool has_enough = !IsAdding() && samples_ != nullptr && samples_->HasEnough();
  if (now >= end || has_enough) return {.what = Due::kStop};
  Due due = {.next = end};
  if (!options_.loop.on()) return due;
  const absl::Time file_end = file_.began() + options_.loop.time;
  const bool is_full = now >= file_.began() + kSizeCheckPeriod &&
                       file_.file().bytes_written() >= options_.loop.bytes;
  if (now >= file_end || is_full) return {.what = Due::kNextFile, .next = end};
  due.next = std::min(due.next, file_end);
  if (options_.loop.bytes != Loop::kNoBytes) {
    due.next = std::min(due.next, now + kSizeCheckPeriod);
  }
  return due;
}

proto::SessionStart Recording::DescribeStart() const {
  proto::SessionStart start = DescribeSession(jvm_, options_, program_);
  for (const auto& part : parts_) part->AddToStart(start);
  return start;
}

void Recording::FinishEnd(proto::SessionEnd::Reason reason, proto::SessionEnd& end) const {
  end.set_reason(reason);
  end.set_agent_cpu_ns(writer_->cpu_ns());
  for (const auto& part : parts_) part->AddToEnd(end);
}

std::string Recording::DescribeEnd(proto::SessionEnd::Reason reason) const {
  const trace::TraceFile& file = file_.file();
  if (const absl::Status kept = file.CheckKept(); !kept.ok()) {
    return absl::StrCat("warning: ", absl::string_view(kept.message()));
  }
  std::string what;
  for (const auto& part : parts_) absl::StrAppend(&what, part->Summary());
  if (reason == proto::SessionEnd::SAMPLES) {
    absl::StrAppend(&what, "ended by samples=", options_.max_samples, ", ");
  }
  const EndedFiles::Sum removed = file_.ended().removed();
  if (removed.files != 0) {
    absl::StrAppendFormat(&what, "%s (%.1f MB) removed by keep=, ",
                          WithNoun(removed.files, "older file"),
                          static_cast<double>(removed.bytes) / 1e6);
  }
  return absl::StrFormat("wrote %s: %s%.1f MB; see it with: jtrace-post %s", path(), what,
                         static_cast<double>(file.bytes_written()) / 1e6, path());
}

std::string Recording::DescribeEndedFiles() {
  if (!options_.keep.on()) return "";
  const EndedFiles::Sum left = file_.ended().Left();
  const EndedFiles::Sum removed = file_.ended().removed();
  return absl::StrFormat("\nended     %s (%.1f MB); removed by keep=: %d (%.1f MB)",
                         WithNoun(left.files, "file"), static_cast<double>(left.bytes) / 1e6,
                         removed.files, static_cast<double>(removed.bytes) / 1e6);
}

std::string Recording::DescribeStatus() {
  std::string text;
  const std::string ended = DescribeEndedFiles();
  writer_->Call([&] {
    absl::StrAppendFormat(
        &text, "state     recording for %s\nfile      %s (%.1f MB)\n",
        absl::FormatDuration(absl::Trunc(absl::Now() - began_, absl::Milliseconds(100))),
        trace::AbsolutePath(path()), static_cast<double>(file_.file().bytes_written()) / 1e6);
    absl::StrAppend(&text, "options   ", DescribeOptions(options_), ended);
    for (const auto& part : parts_) absl::StrAppend(&text, part->Status());
    absl::StrAppend(&text, DescribeWarnings(jvm_.trace.losses));
  });
  return text;
}

std::string DescribeWarnings(const Losses& losses) {
  std::string text;
  for (const LossRow& loss : losses.Snapshot()) {
    if (loss.severity == Severity::kInfo) continue;
    absl::StrAppend(&text, "\nloss      ", WithText(loss.count, loss.what));
    if (!loss.advice.empty()) absl::StrAppend(&text, "; ", loss.advice);
  }
  return text;
}

}  // namespace jtrace
