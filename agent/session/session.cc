#include "agent/session/session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/abi/host.h"
#include "agent/metrics/native_metrics.h"
#include "agent/session/callbacks.h"
#include "agent/session/session_control.h"
#include "agent/session/session_questions.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

constexpr std::array kEarlyEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                     JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                     JVMTI_EVENT_OBJECT_FREE};
// Compiled methods are asked for before any is compiled: HotSpot then keeps debug information for
// every instruction, not only for safepoints, and inlined frames of samples are exact. That costs
// compile time: codes=-0x51 does without.
constexpr std::array kJitEvents = {JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                   JVMTI_EVENT_COMPILED_METHOD_UNLOAD};
constexpr std::array kStubEvents = {JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
constexpr std::array kLiveEvents = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_CLASS_PREPARE,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
// Stay on between recordings, so that memory of ended threads and unloaded classes goes to others.
constexpr std::array kLastingEvents = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_END,
                                       JVMTI_EVENT_OBJECT_FREE};
// At load, without a recording.
constexpr std::array kServingEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                       JVMTI_EVENT_THREAD_END, JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kThreadStarts = {JVMTI_EVENT_THREAD_START};
constexpr std::array kVirtualThreadStarts = {jvmti::kVirtualThreadStart};
constexpr std::array kVirtualThreadEnds = {jvmti::kVirtualThreadEnd};
constexpr std::array kClassFileEvents = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};

jvmtiCapabilities WantedCapabilities(const Options& options) {
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = 1;
  wanted.can_generate_object_free_events = 1;
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_generate_native_method_bind_events = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  if (options.WantsEvents()) {
    wanted.can_generate_all_class_hook_events = 1;
    wanted.can_retransform_classes = 1;
    wanted.can_get_bytecodes = 1;
  }
  return wanted;
}

absl::Status EnableCodeEvents(jvmtiEnv* env, const Options& options) {
  absl::Status status = jvmti::EnableEvents(env, kStubEvents);
  if (!options.codes_off.contains(format::kJit)) {
    status.Update(jvmti::EnableEvents(env, kJitEvents));
  }
  return status;
}

}  // namespace

Session::Session(JavaVM* vm, jvmtiEnv* env)
    : vm_(vm),
      env_(env),
      encoder_({}),
      loaders_(vm, env),
      classes_(vm, env, clock_, loaders_, encoder_),
      code_(clock_, classes_, encoder_, reinterpret_cast<const void*>(vm->functions->GetEnv)),
      threads_(env, clock_, encoder_),
      groups_(threads_, encoder_),
      limited_events_(losses_),
      extra_events_(vm, clock_, threads_, encoder_, limited_events_, losses_),
      metrics_(metrics::JvmMetrics::Create(vm)),
      module_source_(encoder_),
      loss_source_(losses_),
      ended_threads_(threads_),
      unloaded_([this](UnloadedClasses::Batch batch) { return Forget(std::move(batch)); },
                [this] { return call_source_ != nullptr && call_source_->IsBehind(); }) {}

Session::~Session() = default;

absl::StatusOr<Session*> Session::Open(JavaVM* vm, const Options& options) {
  jvmtiEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JVMTI_VERSION_11) != JNI_OK) {
    return absl::UnimplementedError("this JVM has no JVMTI 11; use JDK 17 or later");
  }
  auto* session = new Session(vm, env);  // not freed: see the class comment
  // Where nothing is counted no memory waits for a virtual thread's end, and its events cost.
  auto granted = jvmti::AddCapabilities(env, WantedCapabilities(options), options.WantsEvents());
  if (!granted.ok()) return granted.status();
  session->granted_ = *std::move(granted);
  if (absl::Status status = jvmti::InstallCallbacks(env, session); !status.ok()) return status;
  return session;
}

absl::StatusOr<Session*> Session::OpenAtLoad(JavaVM* vm, const Options& options) {
  auto session = Open(vm, options);
  if (!session.ok()) return session;
  if (options.action != Action::kStart) {
    (*session)->options_ = options;
    (*session)->BeLive();
    const absl::Status status = jvmti::EnableEvents((*session)->env_, kServingEvents);
    if (!status.ok()) return status;
    return session;
  }
  absl::MutexLock lock(&(*session)->lifecycle_);
  if (absl::Status status = (*session)->Prepare(options); !status.ok()) return status;
  if (absl::Status status = (*session)->BeginFile(*(*session)->file_); !status.ok()) return status;
  (*session)->is_prepared_ = true;
  jvmtiEnv* env = (*session)->env_;
  absl::Status status;
  if (options.WantsSamples()) status = EnableCodeEvents(env, options);
  status.Update(jvmti::EnableEvents(env, kEarlyEvents));
  if (!status.ok()) return status;
  return session;
}

void Session::BeLive() {
  is_live_ = true;
  encoder_.EndTrace();
}

absl::StatusOr<Session*> Session::OpenLive(JavaVM* vm, JNIEnv* jni) {
  auto session = Open(vm, Options());
  if (!session.ok()) return session;
  (*session)->BeLive();
  if (absl::Status status = jvmti::EnableEvents((*session)->env_, kLastingEvents); !status.ok()) {
    return status;
  }
  (*session)->DefineQuestions(jni);
  (*session)->StartControl();
  return session;
}

void Session::VmInit(JNIEnv* jni, jthread thread) {
  absl::MutexLock lock(&lifecycle_);
  DefineQuestions(jni);
  if (!std::exchange(is_prepared_, false)) return StartControl();
  threads_.Start(jni, thread);
  if (absl::Status status = TryToBegin(jni, nullptr); !status.ok()) GiveUp(status.message());
  StartControl();
}

void Session::DefineQuestions(JNIEnv* jni) {
  metrics_->Define(jni, losses_);
  if (!metrics_->is_defined()) return;
  static auto* const questions = new SessionQuestions(*this);  // Java may ask for ever
  const absl::Status status = metrics::DefineNativeMetrics(jni, questions);
  if (!status.ok()) losses_.Add("metrics.no_api", Severity::kWarning, 1, status.message());
}

// Without control= it keeps the deadlines and cleans up after failures.
void Session::StartControl() {
  if (control_.load() != nullptr) return;
  auto* control = new control::SessionControl(vm_, *this, options_.control);
  if (!control->problem().ok()) {
    const std::string what =
        absl::StrCat("the jtrace command cannot reach this JVM: ", control->problem().message());
    losses_.Add("control.unavailable", Severity::kWarning, 1, what);
    // Where nothing is recorded, nobody else would say it.
    if (log_ != nullptr) {
      log_->Line(what);
    } else {
      LogToStderr(what);
    }
  }
  control_.store(control);
  control->Wake();  // a failure may have come before
}

void Session::VmDeath() {
  abi::End();
  if (control::SessionControl* control = control_.load(); control != nullptr) control->Close();
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.exchange(false)) return;
  hooks_.End();
  DisableEvents();
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
  EndTrace(proto::SessionEnd::VM_DEATH).IgnoreError();
}

void Session::EnableLiveEvents() {
  jvmti::EnableEvents(env_, kLiveEvents).IgnoreError();
  if (options_.WantsSamples()) EnableCodeEvents(env_, options_).IgnoreError();
  extra_events_.Start(options_.codes);
  if (!granted_.virtual_threads || !options_.WantsEvents()) return;
  jvmti::EnableEvents(env_, kVirtualThreadStarts).IgnoreError();
  jvmti::EnableEvents(env_, kVirtualThreadEnds).IgnoreError();
}

void Session::CountThreads() {
  counts_threads_.store(true);
  jvmti::EnableEvents(env_, kThreadStarts).IgnoreError();
}

absl::Status Session::EnableClassFileEvents() {
  return jvmti::EnableEvents(env_, kClassFileEvents);
}

void Session::DisableEvents() {
  metrics_->StopSources();
  extra_events_.Stop();
  jvmti::DisableEvents(env_, kLiveEvents).IgnoreError();
  jvmti::DisableEvents(env_, kStubEvents).IgnoreError();
  jvmti::DisableEvents(env_, kJitEvents).IgnoreError();
  jvmti::DisableEvents(env_, kClassFileEvents).IgnoreError();
  DisableBindEvents();
  if (counts_threads_.load()) CountThreads();
  if (granted_.virtual_threads) jvmti::DisableEvents(env_, kVirtualThreadStarts).IgnoreError();
}

void Session::GiveUp(absl::string_view why) {
  recording_.store(false);
  {
    absl::MutexLock lock(&failure_mutex_);
    failure_ = std::string(why);
  }
  LogToStderr(absl::StrCat("recording stopped, the program runs on: ", why));
  hooks_.End();
  jvmti::DisableEvents(env_, kLiveEvents).IgnoreError();
  if (sampler_ != nullptr) sampler_->Stop().IgnoreError();
  failed_.store(true);
  if (control::SessionControl* control = control_.load(); control != nullptr) control->Wake();
}

std::string Session::failure() const {
  absl::MutexLock lock(&failure_mutex_);
  return failure_;
}

bool Session::IsAgentThread(pid_t tid) const {
  return tid == control_tid_.load(std::memory_order_relaxed) ||
         tid == clients_tid_.load(std::memory_order_relaxed) || tid == writer_.os_tid() ||
         (sampler_ != nullptr && tid == sampler_->ticker_tid());
}

}  // namespace jtrace
