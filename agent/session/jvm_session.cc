#include "agent/session/jvm_session.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/api/abi/native_api.h"
#include "agent/api/jni/java_api.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/jvm/jvmti_environment.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/jvmti_events.h"
#include "agent/recording/resting_probes.h"
#include "agent/session/callbacks.h"
#include "agent/session/program_packages.h"
#include "agent/session/program_requests.h"
#include "agent/session/session_control.h"
#include "common/counted.h"
#include "proto/control_protocol.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

using enum RecordingState;

// How often classes that are unloaded while no recording runs are forgotten.
constexpr absl::Duration kIdleRound = absl::Seconds(10);

absl::Status NotRecording() {
  return absl::FailedPreconditionError("no recording runs; begin one with start");
}

}  // namespace

absl::StatusOr<JvmSession*> JvmSession::Open(JavaVM* vm, jvmtiEnv* env, const Options& options) {
  auto* session = new JvmSession(vm, env);  // not freed: see the class comment
  // Virtual threads' events are costly, and not needed without probes: no memory has to be freed
  // when a virtual thread ends.
  auto granted = jvm::AddCapabilities(env, WantedCapabilities(options), options.WantsCalls());
  if (!granted.ok()) return granted.status();
  session->jvm_.granted = *std::move(granted);
  if (absl::Status status = InstallCallbacks(env, session); !status.ok()) return status;
  return session;
}

absl::StatusOr<JvmSession*> JvmSession::OpenAtLoad(JavaVM* vm, const Options& options) {
  const absl::StatusOr<jvmtiEnv*> env = jvm::OpenMainEnvironment(vm);
  if (!env.ok()) return env.status();
  auto opened = Open(vm, *env, options);
  if (!opened.ok()) return opened;
  JvmSession& session = **opened;
  absl::MutexLock lock(&session.lifecycle_);
  session.last_.options = options;
  if (options.action != Action::kStart) {
    session.SetLive();
    const absl::Status status = EnableServingEvents(session.jvm_.env);
    if (!status.ok()) return status;
    return opened;
  }
  session.recording_ = session.NewRecording();
  if (absl::Status status = session.recording_->Prepare(options); !status.ok()) return status;
  if (absl::Status status = session.recording_->BeginFile(); !status.ok()) return status;
  if (absl::Status status =
          EnableEarlyEvents(session.jvm_.env, session.agent_.code_reports, options);
      !status.ok()) {
    return status;
  }
  return opened;
}

absl::StatusOr<JvmSession*> JvmSession::OpenLive(JavaVM* vm, JNIEnv* jni) {
  const absl::StatusOr<jvmtiEnv*> env = jvm::OpenMainEnvironmentOnceLive(vm);
  if (!env.ok()) return env.status();
  auto opened = Open(vm, *env, Options());
  if (!opened.ok()) return opened;
  JvmSession& session = **opened;
  session.SetLive();
  session.jvm_.loaded_late = true;
  if (absl::Status status = EnableLastingEvents(session.jvm_.env); !status.ok()) return status;
  session.DefineApi(jni);
  session.StartControl(Options(), /*log=*/nullptr);
  return opened;
}

void JvmSession::SetLive() {
  jvm_.program_runs.store(true);
  jvm_.trace.encoder.EndTrace();
}

std::unique_ptr<Recording> JvmSession::NewRecording() {
  return std::make_unique<Recording>(agent_, gate_, files_begun_, [this] { WakeControl(); });
}

void JvmSession::VmInit(JNIEnv* jni, jthread thread) {
  absl::MutexLock lock(&lifecycle_);
  DefineApi(jni);
  if (!IsIn({kPrepared})) {
    BeginResting(jni);
    return StartControl(last_.options, /*log=*/nullptr);
  }
  jvm_.registries.threads.Start(jni, thread);
  if (absl::Status status = recording_->Begin(jni); !status.ok()) {
    recording_->Fail(status.message());
  }
  StartControl(recording_->options(), &recording_->log());
}

void JvmSession::BeginResting(JNIEnv* jni) {
  if (!last_.options.probes_rest) return;
  absl::Status status;
  try {
    status = RestingProbes::Begin(agent_, jni, last_.options).status();
  } catch (const std::exception& failure) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("no memory: ", failure.what(), "; raise ulimit -v"));
  }
  if (status.ok()) return;
  LogToStderr(
      absl::StrCat("no probes rest, jtrace start --probes puts them in: ", status.message()));
}

absl::Time JvmSession::ForgetUnloaded(absl::Time now) {
  if (agent_.probes.resting.load() == nullptr) return absl::InfiniteFuture();
  const absl::MutexLock lock(&lifecycle_);
  if (recording_ == nullptr) agent_.unloaded.ForgetNow();
  return now + kIdleRound;
}

void JvmSession::DefineApi(JNIEnv* jni) {
  Losses& losses = jvm_.trace.losses;
  agent_.metrics.Define(jni, losses);
  if (!agent_.metrics.is_defined()) return;
  static auto* const requests = new JavaRequests(*this);  // Java may use it at any time
  const absl::Status status = api::DefineNativeMetrics(jni, requests);
  if (!status.ok()) losses.Add("metrics.no_api", Severity::kWarning, 1, status.message());
}

// With control=off the control thread still keeps the deadlines and cleans up after failures.
void JvmSession::StartControl(const Options& options, const MessageLog* log) {
  if (control_.load() != nullptr) return;
  auto* control = new SessionControl(jvm_.vm, *this);
  control->StartServer(options.control);
  if (!control->problem().ok()) {
    const std::string what =
        absl::StrCat("the jtrace command cannot reach this JVM: ", control->problem().message());
    jvm_.trace.losses.Add("control.unavailable", Severity::kWarning, 1, what);
    // Without a recording, nothing else reports it.
    if (log != nullptr) {
      log->Line(what);
    } else {
      LogToStderr(what);
    }
  }
  control_.store(control);
  control->Wake();  // a failure before could not wake it
}

void JvmSession::WakeControl() {
  if (SessionControl* control = control_.load(); control != nullptr) control->Wake();
}

void JvmSession::VmDeath() {
  abi::End();
  if (SessionControl* control = control_.load(); control != nullptr) control->Close();
  absl::MutexLock lock(&lifecycle_);
  jvm_ends_ = true;
  if (!gate_.Close()) return;
  recording_->EndWithJvm();
  last_.options = recording_->options();
  (void)recording_.release();  // the JVM ends: no clean-up is needed, and callbacks may be inside
}

bool JvmSession::IsIn(std::initializer_list<RecordingState> states) {
  return recording_ != nullptr && std::ranges::find(states, recording_->state()) != states.end();
}

Recording* JvmSession::Running() { return IsIn({kRunning}) ? recording_.get() : nullptr; }

absl::StatusOr<std::string> JvmSession::Start(JNIEnv* jni, Options options,
                                              const CommandContext& context) {
  std::optional<ProgramPackages> own;
  {
    absl::MutexLock lock(&lifecycle_);
    if (absl::Status status = CheckNoneRuns(); !status.ok()) return status;
    own = ProgramPackages::Wanted(agent_, jni, options);
  }
  if (own.has_value()) options.include = own->Choose(context);
  absl::StatusOr<int> number;
  {
    absl::MutexLock lock(&lifecycle_);
    number = StartLocked(jni, options, context);
  }
  return number.ok() ? FinishStart(jni, *number, context) : number.status();
}

absl::StatusOr<std::string> JvmSession::Resume(JNIEnv* jni, const CommandContext& context) {
  absl::StatusOr<int> number;
  {
    absl::MutexLock lock(&lifecycle_);
    if (files_begun_ == 0) {
      return absl::FailedPreconditionError("nothing was recorded yet; use start");
    }
    Options options = recording_ != nullptr ? recording_->options() : last_.options;
    options.out = trace::NumberedPattern(options.out);
    number = StartLocked(jni, options, context);
  }
  return number.ok() ? FinishStart(jni, *number, context) : number.status();
}

absl::Status JvmSession::CheckNoneRuns() {
  if (jvm_ends_) return absl::UnavailableError("the JVM is ending");
  if (!IsIn({kPrepared, kRunning})) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a recording already runs, to ", recording_->path(), "; stop it first"));
}

absl::StatusOr<int> JvmSession::StartLocked(JNIEnv* jni, const Options& options,
                                            const CommandContext& context) {
  if (absl::Status status = CheckNoneRuns(); !status.ok()) return status;
  if (recording_ != nullptr) {
    // If another thread is taking its probes out, that thread finds nothing left to do.
    if (absl::Status status = WaitForFailure(); !status.ok()) return status;
    Retire(jni);
  }
  last_.failure.clear();
  last_.unreported_kept.reset();
  recording_ = NewRecording();
  ++number_;
  if (const absl::Status status = TryToStart(jni, options); !status.ok()) {
    const Options before = std::move(last_.options);
    Retire(jni);
    WakeControl();           // which ends the compilers' priority
    last_.options = before;  // for resume
    return status;
  }
  WakeControl();
  if (CallsPart* calls = recording_->calls(); calls != nullptr) {
    for (const std::string& line : calls->classes().DescribePlan()) context.report(line);
  }
  return number_;
}

absl::Status JvmSession::TryToStart(JNIEnv* jni, const Options& options) {
  try {
    if (absl::Status status = recording_->Prepare(options); !status.ok()) return status;
    jvm_.trace.encoder.BeginTrace(options.codes);
    jvm_.registries.threads.Clear();
    jvm_.registries.groups.Clear();
    DefineApi(jni);
    return recording_->Begin(jni);
  } catch (const std::exception& failure) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the recording: ", failure.what(), "; raise ulimit -v"));
  }
}

// Waits for the thread that fails, which first writes why to stderr: that may be a full pipe.
absl::Status JvmSession::WaitForFailure() {
  for (int i = 0; i < 1000 && IsIn({kFailing}); ++i) absl::SleepFor(absl::Milliseconds(1));
  if (!IsIn({kFailing})) return absl::OkStatus();
  return absl::UnavailableError("the last recording failed and has not ended yet; try again");
}

std::string JvmSession::Retire(JNIEnv* jni) {
  // Not freed if CleanUp throws, which it may do without memory.
  Recording* const ended = recording_.release();
  ended->CleanUp(jni);
  std::string left = ended->DescribeKeptProbes();
  last_.options = ended->options();
  last_.failure = ended->failure();
  if (gate_.WaitUntilEmpty(kGateTimeout)) delete ended;
  return left;
}

JvmSession::Step JvmSession::AddBatch(JNIEnv* jni, int number) {
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || Running() == nullptr) return {.is_over = true};
  if (!recording_->IsAdding()) return {.is_over = true};
  ClassBatches& batches = recording_->calls()->classes().batches();
  if (batches.Pause() <= absl::ZeroDuration()) recording_->AddBatch(jni);
  if (!recording_->IsAdding()) return {.progress = batches.progress()};
  return {.pause = batches.Pause(), .progress = batches.progress()};
}

JvmSession::Step JvmSession::RemoveBatch(JNIEnv* jni, int number) {
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || recording_ == nullptr) return {.is_over = true};
  if (recording_->calls() == nullptr) return {.is_over = true};
  ClassBatches& batches = recording_->calls()->classes().batches();
  if (batches.Pause() <= absl::ZeroDuration() && !recording_->RemoveBatch(jni)) {
    return {.is_over = true};
  }
  return {.pause = batches.Pause(), .progress = batches.progress()};
}

absl::Status JvmSession::AddProbes(JNIEnv* jni, int number, const CommandContext& context) {
  BatchProgress progress;
  for (Step step = AddBatch(jni, number); !step.is_over; step = AddBatch(jni, number)) {
    progress = step.progress;
    context.progress(progress, DescribeProgress(progress, "in"));
    context.pause(step.pause, CommandContext::kAnyRequest);
  }
  WakeControl();  // which ends the compilers' priority
  absl::MutexLock lock(&lifecycle_);
  if (number == number_ && Running() != nullptr) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      "the recording ended while its probes were being put in: ", progress.done.classes, " of ",
      progress.all.classes, " classes had them"));
}

absl::StatusOr<std::string> JvmSession::FinishStart(JNIEnv* jni, int number,
                                                    const CommandContext& context) {
  if (absl::Status status = AddProbes(jni, number, context); !status.ok()) return status;
  absl::MutexLock lock(&lifecycle_);
  if (number != number_ || Running() == nullptr) {
    return absl::AbortedError("the recording has ended already");
  }
  return absl::StrCat("recording to ", trace::AbsolutePath(recording_->path()), " (",
                      DescribeOptions(recording_->options()), ")",
                      DescribeWarnings(jvm_.trace.losses));
}

bool JvmSession::PauseRemoving(int number) {
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || recording_ == nullptr) return false;
  if (!recording_->PauseRemoving()) return false;
  WakeControl();
  return true;
}

std::string JvmSession::RemoveProbes(JNIEnv* jni, int number, const CommandContext& context) {
  const absl::Time end = absl::Now() + context.timeout;
  for (Step step = RemoveBatch(jni, number); !step.is_over; step = RemoveBatch(jni, number)) {
    const std::string progress = DescribeProgress(step.progress, "out of");
    context.progress(step.progress, progress);
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration() && PauseRemoving(number)) {
      return absl::StrCat("\n", progress, "; the rest follow while the program runs");
    }
    // A caller that cannot wait has the rest done at once, by Retire.
    if (!context.pause(std::min(step.pause, left), CommandContext::kQueries)) break;
  }
  WakeControl();
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || recording_ == nullptr) return "";
  return Retire(jni);
}

absl::StatusOr<std::string> JvmSession::Stop(JNIEnv* jni, const CommandContext& context) {
  absl::StatusOr<std::string> written;
  int number = 0;
  {
    absl::MutexLock lock(&lifecycle_);
    if (IsIn({kStopping, kRemoving, kPaused})) {
      return absl::FailedPreconditionError(
          "the recording has ended already; its probes are being taken out");
    }
    // The writer thread may fail between the two checks.
    const bool stops = IsIn({kRunning}) && recording_->BeginStop();
    if (!stops && IsIn({kFailing, kFailed})) {
      if (absl::Status status = WaitForFailure(); !status.ok()) return status;
      const std::string file = recording_->path();
      Retire(jni);
      return absl::AbortedError(absl::StrCat("the recording had failed: ", last_.failure, "; ",
                                             file,
                                             " has the records before that, no probe is left"));
    }
    if (!stops) {
      return absl::FailedPreconditionError(absl::StrCat(
          "no recording runs",
          last_.failure.empty() ? "" : absl::StrCat("; the last one failed: ", last_.failure),
          last_.unreported_kept
              ? absl::StrCat("; the probes of the last one are out", *last_.unreported_kept)
              : ""));
    }
    number = number_;
    try {
      written = recording_->Stop(jni);
    } catch (const std::exception& failure) {  // no memory: the probes go if that needs none
      written = absl::ResourceExhaustedError(failure.what());
    }
  }
  const std::string left = RemoveProbes(jni, number, context);
  if (!written.ok()) return written;
  return absl::StrCat(*written, left);
}

void JvmSession::CleanUp(JNIEnv* jni, const CommandContext& context) {
  int number = 0;
  {
    absl::MutexLock lock(&lifecycle_);
    if (!IsIn({kFailed, kPaused})) return;
    if (!recording_->BeginRemoving(jni)) return;
    number = number_;
  }
  const std::string left = RemoveProbes(jni, number, context);
  absl::MutexLock lock(&lifecycle_);
  if (recording_ == nullptr && number == number_) last_.unreported_kept = left;
}

absl::StatusOr<std::string> JvmSession::Flush() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr ? recording->Flush() : NotRecording();
}

absl::StatusOr<std::string> JvmSession::NextFile() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr ? recording->NextFile() : NotRecording();
}

absl::StatusOr<std::string> JvmSession::Dump() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr) return NotRecording();
  return recording->options().loop.on() ? recording->NextFile() : recording->Flush();
}

absl::Status JvmSession::Mark(absl::string_view text) {
  absl::MutexLock lock(&lifecycle_);
  if (Running() == nullptr) return NotRecording();
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kSession,
                               .minor = format::kSessionMark,
                               .text = text});
  return absl::OkStatus();
}

absl::Status JvmSession::QueryTrees(const std::function<void(metrics::TreeWindows&)>& ask) {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr ? recording->QueryTrees(ask) : NotRecording();
}

absl::StatusOr<std::string> JvmSession::Hook(absl::string_view specs) {
  std::vector<native_hooks::HookSpec> wanted;  // none: to list them
  if (!absl::StripAsciiWhitespace(specs).empty()) {
    auto parsed = native_hooks::ParseHookSpecs(specs);
    if (!parsed.ok()) return parsed.status();
    wanted = *std::move(parsed);
  }
  for (const native_hooks::HookSpec& spec : wanted) {
    if (!spec.IsMethod()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("'", spec.symbol,
                     "' is a Java method: it has a probe from the start of a recording, no "
                     "int3; begin one with hook=",
                     native_hooks::HookSpecText(spec)));
  }
  {
    absl::MutexLock lock(&lifecycle_);
    Recording* const recording = Running();
    if (recording == nullptr) return NotRecording();
    if (!recording->has_samples()) {
      return absl::FailedPreconditionError(
          "this recording takes no samples, and hooks need the threads that these know; begin one "
          "with mode=merged");
    }
    if (!recording->options().codes.Has(Code::kNativeHook)) {
      return absl::FailedPreconditionError(
          "codes= of this recording leaves hooks (0x33) out; begin one without");
    }
    const bool adds = std::ranges::any_of(wanted, [](const native_hooks::HookSpec& spec) {
      return spec.kind != native_hooks::HookKind::kOff;
    });
    if (adds) recording->RequestCodeRecords();
  }
  // Reading libraries' symbols may take seconds: a stop does not wait for it, and removes the
  // hooks.
  return wanted.empty() ? agent_.hooks.Describe() : agent_.hooks.Apply(wanted);
}

absl::StatusOr<std::string> JvmSession::RunCommand(absl::string_view verb,
                                                   absl::string_view argument) {
  SessionControl* control = control_.load();
  if (control == nullptr) return absl::UnavailableError("the JVM is not initialized yet");
  std::string answer;
  const absl::Status status = control->Run(verb, argument, [&](char kind, absl::string_view line) {
    if (kind == control::kAnswerLine) absl::StrAppend(&answer, line, "\n");
  });
  if (!status.ok()) return status;
  return answer;
}

std::string JvmSession::DescribeIdle() {
  if (IsIn({kFailing, kFailed, kRemoving, kPaused}) && !recording_->failure().empty()) {
    return absl::StrCat("state     failed: ", recording_->failure(),
                        "; its probes are being taken out");
  }
  if (IsIn({kRemoving, kPaused}) && recording_->calls() != nullptr) {
    return absl::StrCat(
        "state     ended: ",
        DescribeProgress(recording_->calls()->classes().batches().progress(), "out of"));
  }
  std::string text = files_begun_ == 0 ? "state     idle: nothing was recorded yet"
                                       : absl::StrCat("state     idle; the last options were ",
                                                      DescribeOptions(last_.options));
  if (!last_.failure.empty()) absl::StrAppend(&text, "\nfailed    ", last_.failure);
  absl::StrAppend(&text, last_.unreported_kept.value_or(""));
  if (const RestingProbes* const resting = agent_.probes.resting.load(); resting != nullptr) {
    absl::StrAppend(&text, "\nprobes    rest in ", WithNoun(resting->classes(), "class", "classes"),
                    " (", DescribeOptions(resting->options()), ")");
  }
  return text;
}

absl::StatusOr<std::string> JvmSession::DescribeStatus() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr) return DescribeIdle();
  if (absl::Status status = recording->Flush().status(); !status.ok()) return status;
  return recording->DescribeStatus();
}

bool JvmSession::NeedsJavaThread() {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  return recording != nullptr && recording->NeedsJavaThread();
}

Due JvmSession::WhatIsDue(absl::Time now) {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording != nullptr) return recording->WhatIsDue(now);
  return {.what = IsIn({kFailed, kPaused}) ? Due::kCleanUp : Due::kNothing};
}

void JvmSession::CarryOut(JNIEnv* jni, Due::What what, const CommandContext& context) {
  if (what == Due::kStop) Stop(jni, context).status().IgnoreError();
  if (what == Due::kAddProbes) AddProbesToLateClasses(jni);
  if (what == Due::kCleanUp) CleanUp(jni, context);
}

void JvmSession::AddProbesToLateClasses(JNIEnv* jni) {
  absl::MutexLock lock(&lifecycle_);
  Recording* const recording = Running();
  if (recording == nullptr || recording->calls() == nullptr) return;
  jvm::LocalFrame frame(jni);
  recording->calls()->classes().AddToPrepared(jni);
}

}  // namespace jtrace
