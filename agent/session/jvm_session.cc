#include "agent/session/jvm_session.h"

#include <exception>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/abi/host.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/jvmti/env.h"
#include "agent/metrics/native_metrics.h"
#include "agent/session/callbacks.h"
#include "agent/session/event_sets.h"
#include "agent/session/own_packages.h"
#include "agent/session/resting_probes.h"
#include "agent/session/session_control.h"
#include "agent/session/session_questions.h"

namespace jtrace {
namespace {

// A JVM that loads much before its main method, or compiles all of it first (-Xcomp), accepts an
// attach seconds before it gives out an environment.
constexpr absl::Duration kMostStarting = absl::Seconds(20);
constexpr absl::Duration kStartingPoll = absl::Milliseconds(10);
// Classes that were unloaded while no recording runs are forgotten about so often.
constexpr absl::Duration kIdleRound = absl::Seconds(10);

// The probes and the stack walker rely on HotSpot's structures. A HotSpot that does not describe
// them is recorded without Java frames, and says so.
absl::Status CheckIsHotSpot(JavaVM* vm, jvmtiEnv* env) {
  const auto tables = sampling::VmStructs::Of(reinterpret_cast<const void*>(vm->functions->GetEnv));
  if (tables.ok()) return absl::OkStatus();
  jvmti::Allocated<char> property(env);
  const bool has_name = env->GetSystemProperty("java.vm.name", property.out()) == JVMTI_ERROR_NONE;
  const std::string name = has_name ? property.get() : "unknown";
  if (absl::StrContains(name, "OpenJDK") || absl::StrContains(name, "HotSpot"))
    return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("this JVM is ", name, ", not HotSpot; use an OpenJDK from 11 to 27"));
}

// Unavailable: the JVM is between its phases OnLoad and live (JVMTI, GetEnv), or ends.
absl::StatusOr<jvmtiEnv*> NewEnvironment(JavaVM* vm) {
  jvmtiEnv* env = nullptr;
  const jint code = vm->GetEnv(reinterpret_cast<void**>(&env), JVMTI_VERSION_11);
  if (code == JNI_OK) {
    absl::Status status = CheckIsHotSpot(vm, env);
    if (status.ok()) return env;
    env->DisposeEnvironment();
    return status;
  }
  if (code == JNI_EVERSION) {
    return absl::UnimplementedError("this JVM has no JVMTI 11; use JDK 11 or later");
  }
  return absl::UnavailableError("this JVM is still starting, or is ending; try again");
}

// Waits on the thread that handles attaches, which a starting JVM does not need.
absl::StatusOr<jvmtiEnv*> NewEnvironmentOnceLive(JavaVM* vm) {
  const absl::Time deadline = absl::Now() + kMostStarting;
  absl::StatusOr<jvmtiEnv*> env = NewEnvironment(vm);
  while (absl::IsUnavailable(env.status()) && absl::Now() < deadline) {
    absl::SleepFor(kStartingPoll);
    env = NewEnvironment(vm);
  }
  return env;
}

}  // namespace

absl::StatusOr<JvmSession*> JvmSession::Open(JavaVM* vm, jvmtiEnv* env, const Options& options) {
  auto* session = new JvmSession(vm, env);  // not freed: see the class comment
  // Without counting, no memory has to be freed at a virtual thread's end, and its events are
  // costly.
  auto granted = jvmti::AddCapabilities(env, WantedCapabilities(options), options.WantsEvents());
  if (!granted.ok()) return granted.status();
  session->jvm_.granted = *std::move(granted);
  if (absl::Status status = InstallCallbacks(env, session); !status.ok()) return status;
  return session;
}

absl::StatusOr<JvmSession*> JvmSession::OpenAtLoad(JavaVM* vm, const Options& options) {
  const absl::StatusOr<jvmtiEnv*> env = NewEnvironment(vm);
  if (!env.ok()) return env.status();
  auto opened = Open(vm, *env, options);
  if (!opened.ok()) return opened;
  JvmSession& session = **opened;
  absl::MutexLock lock(&session.lifecycle_);
  session.last_options_ = options;
  if (options.action != Action::kStart) {
    session.SetLive();
    const absl::Status status = EnableServingEvents(session.jvm_.env);
    if (!status.ok()) return status;
    return opened;
  }
  session.recording_ = session.NewRecording();
  if (absl::Status status = session.recording_->Prepare(options); !status.ok()) return status;
  if (absl::Status status = session.recording_->BeginFile(); !status.ok()) return status;
  session.is_prepared_ = true;
  if (absl::Status status = EnableEarlyEvents(session.jvm_, options); !status.ok()) {
    return status;
  }
  return opened;
}

absl::StatusOr<JvmSession*> JvmSession::OpenLive(JavaVM* vm, JNIEnv* jni) {
  const absl::StatusOr<jvmtiEnv*> env = NewEnvironmentOnceLive(vm);
  if (!env.ok()) return env.status();
  auto opened = Open(vm, *env, Options());
  if (!opened.ok()) return opened;
  JvmSession& session = **opened;
  session.SetLive();
  session.jvm_.loaded_late = true;
  if (absl::Status status = EnableLastingEvents(session.jvm_.env); !status.ok()) return status;
  session.DefineQuestions(jni);
  session.StartControl(Options(), /*log=*/nullptr);
  return opened;
}

void JvmSession::SetLive() {
  jvm_.is_live.store(true);
  jvm_.trace.encoder.EndTrace();
}

std::unique_ptr<Recording> JvmSession::NewRecording() {
  return std::make_unique<Recording>(jvm_, gate_, files_begun_, [this] { WakeControl(); });
}

void JvmSession::VmInit(JNIEnv* jni, jthread thread) {
  absl::MutexLock lock(&lifecycle_);
  DefineQuestions(jni);
  if (!std::exchange(is_prepared_, false)) {
    BeginResting(jni);
    return StartControl(last_options_, /*log=*/nullptr);
  }
  jvm_.registries.threads.Start(jni, thread);
  if (absl::Status status = recording_->Begin(jni); !status.ok()) {
    recording_->Fail(status.message());
  }
  StartControl(recording_->options(), &recording_->log());
}

void JvmSession::BeginResting(JNIEnv* jni) {
  if (!last_options_.probes_rest) return;
  absl::Status status;
  try {
    status = RestingProbes::Begin(jvm_, jni, last_options_).status();
  } catch (const std::exception& failure) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("no memory: ", failure.what(), "; raise ulimit -v"));
  }
  if (status.ok()) return;
  LogToStderr(
      absl::StrCat("no probes rest, jtrace start --probes puts them in: ", status.message()));
}

absl::Time JvmSession::ForgetUnloaded(absl::Time now) {
  if (jvm_.resting.load() == nullptr) return absl::InfiniteFuture();
  const absl::MutexLock lock(&lifecycle_);
  if (recording_ == nullptr) jvm_.unloaded.ForgetIdle();
  return now + kIdleRound;
}

void JvmSession::DefineQuestions(JNIEnv* jni) {
  Losses& losses = jvm_.trace.losses;
  jvm_.metrics->Define(jni, losses);
  if (!jvm_.metrics->is_defined()) return;
  static auto* const questions = new SessionQuestions(*this);  // Java may use it at any time
  const absl::Status status = metrics::DefineNativeMetrics(jni, questions);
  if (!status.ok()) losses.Add("metrics.no_api", Severity::kWarning, 1, status.message());
}

// Without control=, it still keeps the deadlines and cleans up after failures.
void JvmSession::StartControl(const Options& options, const Log* log) {
  if (control_.load() != nullptr) return;
  auto* control = new control::SessionControl(jvm_.vm, *this);
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
  control->Wake();  // a failure may have happened before
}

void JvmSession::WakeControl() {
  if (control::SessionControl* control = control_.load(); control != nullptr) control->Wake();
}

void JvmSession::VmDeath() {
  abi::End();
  if (control::SessionControl* control = control_.load(); control != nullptr) control->Close();
  absl::MutexLock lock(&lifecycle_);
  jvm_ends_ = true;
  if (!gate_.Close()) return;
  recording_->EndWithJvm();
  last_options_ = recording_->options();
  (void)recording_.release();  // the JVM ends: no clean-up is needed, and callbacks may be inside
}

Recording* JvmSession::Running() { return gate_.is_open() ? recording_.get() : nullptr; }

absl::StatusOr<std::string> JvmSession::Start(JNIEnv* jni, Options options, const Caller& caller) {
  std::optional<OwnPackages> own;
  {
    absl::MutexLock lock(&lifecycle_);
    if (absl::Status status = CheckNoneRuns(); !status.ok()) return status;
    own = OwnPackages::Wanted(jvm_, jni, options);
  }
  if (own.has_value()) options.include = own->Choose(caller);
  absl::StatusOr<int> number;
  {
    absl::MutexLock lock(&lifecycle_);
    number = StartLocked(jni, options, caller);
  }
  return number.ok() ? FinishStart(jni, *number, caller) : number.status();
}

absl::StatusOr<std::string> JvmSession::Resume(JNIEnv* jni, const Caller& caller) {
  absl::StatusOr<int> number;
  {
    absl::MutexLock lock(&lifecycle_);
    if (files_begun_ == 0) {
      return absl::FailedPreconditionError("nothing was recorded yet; use start");
    }
    Options options = recording_ != nullptr ? recording_->options() : last_options_;
    options.out = trace::NumberedPattern(options.out);
    number = StartLocked(jni, options, caller);
  }
  return number.ok() ? FinishStart(jni, *number, caller) : number.status();
}

absl::Status JvmSession::CheckNoneRuns() {
  if (jvm_ends_) return absl::UnavailableError("the JVM is ending");
  if (Running() == nullptr && !is_prepared_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a recording already runs, to ", recording_->path(), "; stop it first"));
}

absl::StatusOr<int> JvmSession::StartLocked(JNIEnv* jni, const Options& options,
                                            const Caller& caller) {
  if (absl::Status status = CheckNoneRuns(); !status.ok()) return status;
  if (recording_ != nullptr) {
    // Another thread takes its probes out: it finds nothing left to do.
    if (absl::Status status = WaitForFailure(); !status.ok()) return status;
    Retire(jni);
  }
  last_failure_.clear();
  unheard_left_.reset();
  recording_ = NewRecording();
  ++number_;
  if (const absl::Status status = TryToStart(jni, options); !status.ok()) {
    const Options before = std::move(last_options_);
    Retire(jni);
    WakeControl();           // which ends the compilers' priority
    last_options_ = before;  // for resume
    return status;
  }
  WakeControl();
  if (const ProbedClasses* classes = recording_->classes(); classes != nullptr) {
    for (const std::string& line : classes->DescribePlan()) caller.report(line);
  }
  return number_;
}

absl::Status JvmSession::TryToStart(JNIEnv* jni, const Options& options) {
  try {
    if (absl::Status status = recording_->Prepare(options); !status.ok()) return status;
    jvm_.trace.encoder.BeginTrace(options.codes);
    jvm_.registries.threads.Clear();
    jvm_.registries.groups.Clear();
    DefineQuestions(jni);
    return recording_->Begin(jni);
  } catch (const std::exception& failure) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the recording: ", failure.what(), "; raise ulimit -v"));
  }
}

// Waits for the writer's thread, which first reports the failure: stderr may be a pipe without a
// reader.
absl::Status JvmSession::WaitForFailure() {
  if (removal_ != Removal::kNone) return absl::OkStatus();
  for (int i = 0; i < 1000 && !recording_->has_failed(); ++i) absl::SleepFor(absl::Milliseconds(1));
  if (recording_->has_failed()) return absl::OkStatus();
  return absl::UnavailableError("the last recording failed and has not ended yet; try again");
}

std::string JvmSession::Retire(JNIEnv* jni) {
  recording_->CleanUp(jni);
  std::string left = recording_->DescribeLeft();
  last_options_ = recording_->options();
  last_failure_ = recording_->failure();
  if (!gate_.WaitUntilEmpty(kGatePatience)) (void)recording_.release();
  recording_ = nullptr;
  removal_ = Removal::kNone;
  return left;
}

}  // namespace jtrace
