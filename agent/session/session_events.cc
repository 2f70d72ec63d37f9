// What the JVM tells while a session records, handed to the part that wants it.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agent/jvmti/retransformer.h"
#include "agent/jvmti/tags.h"
#include "agent/metrics/native_metrics.h"
#include "agent/session/session.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

// Until its end a new recording waits.
class InCallback {
 public:
  explicit InCallback(hot::InFlight& callbacks) : callbacks_(callbacks) { callbacks_.Enter(); }
  ~InCallback() { callbacks_.Leave(); }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  hot::InFlight& callbacks_;
};

}  // namespace

void Session::ThreadStart(JNIEnv* jni, jthread thread) {
  const InCallback here(callbacks_);
  if (gettid() == control_tid_.load(std::memory_order_relaxed)) return;
  metrics_->ThreadStart(jni, thread);
  // Whoever is counted only is not named: a start does that for what runs by then.
  if (is_live_ && !recording_.load(std::memory_order_acquire)) return;
  const jvmti::ThreadNumbers numbers = threads_.Start(jni, thread);
  JoinFamilies(jni, numbers.java_tid);
  if (!recording_.load(std::memory_order_acquire) || !options_.WantsSamples()) return;
  if (!options_.samples.threads.empty() && !WantsThread(numbers.java_tid)) return;
  sampler_->AttachCurrentThread(jni, numbers.number, numbers.java_tid).IgnoreError();
}

bool Session::WantsThread(uint64_t java_tid) const {
  return sampled_threads_.Wants(threads_.Find(java_tid).name);
}

void Session::ThreadEnd() {
  if (sampler_ != nullptr) sampler_->DetachCurrentThread();
  const jvmti::ThreadNumbers numbers = threads_.End();
  probe_sets_.ChargeRest(numbers.java_tid);
  probe_sets_.MarkThreadEnded(numbers.java_tid);
  metrics_->ThreadEnd();
  LeaveFamilies(numbers.java_tid);
}

void Session::VirtualThreadStart(JNIEnv* jni, jthread thread) {
  threads_.StartVirtual(jni, thread);
  if (!families_.empty()) JoinFamilies(jni, threads_.JavaTid(jni, thread));
}

void Session::JoinFamilies(JNIEnv* jni, uint64_t java_tid) {
  if (families_.empty()) return;
  for (const uint64_t window : metrics::InheritedWindows(jni)) families_.Add(window, java_tid);
}

void Session::LeaveFamilies(uint64_t java_tid) {
  if (families_.empty()) return;
  metrics::Values totals;
  for (uint32_t i = 0; i < totals.size(); ++i) {
    totals[i] = metrics_->counters().Of(java_tid, i).value_or(0);
  }
  families_.Leave(java_tid, totals);
}

void Session::VirtualThreadEnd(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = threads_.EndVirtual(jni, thread);
  probe_sets_.ChargeRest(java_tid);
  probe_sets_.MarkThreadEnded(java_tid);
  metrics_->VirtualThreadEnd(java_tid);
  LeaveFamilies(java_tid);
}

void Session::ClassFileLoad(jclass redefined, jobject loader, const char* name,
                            std::span<const unsigned char> bytes, jint* new_size,
                            unsigned char** new_bytes) {
  // Entered before the question, so that a stop that asks for no more probes can wait for the last.
  const InCallback here(class_hooks_);
  const bool recording = recording_.load(std::memory_order_seq_cst);
  std::vector<unsigned char> current;
  if (redefined != nullptr && jvmti::IsRetransforming()) {
    current = redefined_.Current(classes_.NumberOf(redefined), bytes);
    if (!current.empty()) bytes = current;
  } else if (redefined != nullptr && recording) {
    classes_.Renumber(redefined);
    ClassRedefine(redefined, name, bytes);
  }
  std::span<unsigned char> made;
  if (recording) made = instrumentation_->Rewrite(env_, name, loader, bytes);
  if (made.empty() && !current.empty()) made = jvmti::CopyForJvm(env_, current);
  if (made.empty()) return;
  *new_size = static_cast<jint>(made.size());
  *new_bytes = made.data();
}

void Session::ClassRedefine(jclass klass, const char* name, std::span<const unsigned char> bytes) {
  if (!redefined_.Note(classes_.NumberOf(klass), bytes)) {
    losses_.Add("class.redefined", Severity::kInfo, 1,
                "classes that other agents changed and JDK 17 may give back as they were before");
  }
  const uint64_t now = clock_.Now();
  if (name == nullptr || !options_.codes.Has(Code::kClassRedefine) ||
      !limited_events_.Count(LimitedEvent::kRedefine, now)) {
    return;
  }
  std::string binary_name(name);
  std::replace(binary_name.begin(), binary_name.end(), '/', '.');
  encoder_.AddEvent({.time_ns = now,
                     .major = format::kClass,
                     .minor = format::kClassRedefine,
                     .text = binary_name});
}

void Session::ClassPrepare(jclass klass) {
  const InCallback here(callbacks_);
  if (app_scope_ != nullptr) app_scope_->Add(klass);
  classes_.Prepare(klass, /*thread=*/0);
  NoteLateClass(klass);
}

void Session::ObjectFree(jlong tag) {
  classes_.Unload(tag);
  if (jvmti::IsTag(tag, jvmti::TagKind::kClass)) unloaded_.AddClass(jvmti::TagNumber(tag));
  if (jvmti::IsTag(tag, jvmti::TagKind::kLoader)) unloaded_.AddLoader(jvmti::TagNumber(tag));
}

size_t Session::Forget(UnloadedClasses::Batch unloaded) {
  absl::erase_if(unloaded.classes, [this](uint32_t id) { return classes_.IsLoaded(id); });
  const auto forgotten = encoder_.Forget(unloaded.classes, unloaded.loaders);
  loaders_.Forget(forgotten, unloaded.loaders);
  absl::flat_hash_set<uint32_t> classes;
  for (const writer::ForgottenClass& it : forgotten) classes.insert(it.id);
  classes_.Forget(classes);
  if (instrumentation_ != nullptr) instrumentation_->Forget(classes);
  unprobed_.Forget(classes);
  return encoder_.classes();
}

void Session::CompiledMethodLoad(jmethodID method, jint size, const void* address,
                                 const void* compile_info) {
  const InCallback here(callbacks_);
  code_.Load(method, size, address, compile_info);
  if (sampler_ != nullptr && options_.WantsSamples()) {
    sampler_->NoteCompiledCode(address, compile_info);
  }
  if (probes_ == nullptr) return;
  if (const uint32_t routine = classes_.RoutineOf(jvmti::KeyOf(method)); routine != 0) {
    probes_->SetCompiled(routine, true);
  }
}

void Session::CompiledMethodUnload(jmethodID method, const void* address) {
  code_.Unload(method, address);
}

void Session::DynamicCode(const char* name, const void* address, jint size) {
  code_.DynamicCode(name, address, size);
  if (sampler_ != nullptr) sampler_->AddDynamicCode(name, address, static_cast<uint32_t>(size));
}

void Session::GcStart() {
  metrics_->GcStart(clock_.Now());
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .major = format::kGc,
                     .minor = format::kGcCycle,
                     .value = static_cast<int64_t>(gc_count_.fetch_add(1) + 1),
                     .text = gc_cause_.AtBegin()});
}

void Session::GcFinish() {
  metrics_->GcFinish(clock_.Now());
  encoder_.AddEvent({.time_ns = clock_.Now(),
                     .major = format::kGc,
                     .minor = format::kGcCycle | format::kEnd,
                     .value = static_cast<int64_t>(gc_count_.load()),
                     .text = gc_cause_.AtEnd()});
}

}  // namespace jtrace
