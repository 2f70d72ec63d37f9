#include "agent/session/callbacks.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agent/base/class_names.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/jvm/loader_numbers.h"
#include "agent/metrics/native_metrics.h"
#include "agent/recording/recording.h"
#include "agent/recording/resting_probes.h"
#include "agent/samples/handler/own_work.h"
#include "agent/samples/handler/thread_labels.h"
#include "agent/session/jvm_session.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

JvmSession& SessionOf(jvmtiEnv* env) {
  void* session = nullptr;
  env->GetEnvironmentLocalStorage(&session);
  return *static_cast<JvmSession*>(session);
}

JvmEvents& EventsOf(jvmtiEnv* env) { return SessionOf(env).events(); }

void JNICALL VmInit(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  SessionOf(env).VmInit(jni, thread);
}

void JNICALL VmDeath(jvmtiEnv* env, JNIEnv*) { SessionOf(env).VmDeath(); }

void JNICALL ThreadStart(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  EventsOf(env).ThreadStart(jni, thread);
}

void JNICALL ThreadEnd(jvmtiEnv* env, JNIEnv*, jthread) { EventsOf(env).ThreadEnd(); }

void JNICALL VirtualThreadStart(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  EventsOf(env).VirtualThreadStart(jni, thread);
}

void JNICALL VirtualThreadEnd(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  EventsOf(env).VirtualThreadEnd(jni, thread);
}

void JNICALL ClassFileLoadHook(jvmtiEnv* env, JNIEnv* jni, jclass redefined, jobject loader,
                               const char* name, jobject domain, jint size,
                               const unsigned char* bytes, jint* new_size,
                               unsigned char** new_bytes) {
  if (redefined == nullptr) EventsOf(env).ClassDefine(jni, loader, name, domain);
  EventsOf(env).ClassFileLoad(redefined, loader, name, {bytes, static_cast<size_t>(size)}, new_size,
                              new_bytes);
}

void JNICALL ClassPrepare(jvmtiEnv* env, JNIEnv*, jthread, jclass klass) {
  EventsOf(env).ClassPrepare(klass);
}

void JNICALL ObjectFree(jvmtiEnv* env, jlong tag) { EventsOf(env).ObjectFree(tag); }

void JNICALL CompiledMethodLoad(jvmtiEnv* env, jmethodID method, jint size, const void* address,
                                jint, const jvmtiAddrLocationMap*, const void* compile_info) {
  EventsOf(env).CompiledMethodLoad(method, size, address, compile_info);
}

void JNICALL CompiledMethodUnload(jvmtiEnv* env, jmethodID method, const void* address) {
  EventsOf(env).CompiledMethodUnload(method, address);
}

void JNICALL DynamicCodeGenerated(jvmtiEnv* env, const char* name, const void* address, jint size) {
  EventsOf(env).DynamicCode(name, address, size);
}

void JNICALL NativeMethodBind(jvmtiEnv* env, JNIEnv*, jthread, jmethodID, void*, void**) {
  EventsOf(env).NativeMethodBind();
}

void JNICALL GcStart(jvmtiEnv* env) { EventsOf(env).GcStart(); }

void JNICALL GcFinish(jvmtiEnv* env) { EventsOf(env).GcFinish(); }

using Inside = Gate<Recording>::Inside;

}  // namespace

absl::Status InstallCallbacks(jvmtiEnv* env, JvmSession* session) {
  absl::Status status =
      jvm::ToStatus(env, env->SetEnvironmentLocalStorage(session), "SetEnvironmentLocalStorage");
  if (!status.ok()) return status;
  jvm::Callbacks callbacks = {};
  callbacks.base.VMInit = samples::kAsOwn<VmInit>;
  callbacks.base.VMDeath = samples::kAsOwn<VmDeath>;
  callbacks.base.ThreadStart = samples::kAsOwn<ThreadStart>;
  callbacks.base.ThreadEnd = samples::kAsOwn<ThreadEnd>;
  callbacks.base.ClassFileLoadHook = samples::kAsOwn<ClassFileLoadHook>;
  callbacks.base.ClassPrepare = samples::kAsOwn<ClassPrepare>;
  callbacks.base.ObjectFree = samples::kAsOwn<ObjectFree>;
  callbacks.base.CompiledMethodLoad = samples::kAsOwn<CompiledMethodLoad>;
  callbacks.base.CompiledMethodUnload = samples::kAsOwn<CompiledMethodUnload>;
  callbacks.base.DynamicCodeGenerated = samples::kAsOwn<DynamicCodeGenerated>;
  callbacks.base.NativeMethodBind = samples::kAsOwn<NativeMethodBind>;
  callbacks.base.GarbageCollectionStart = samples::kAsOwn<GcStart>;
  callbacks.base.GarbageCollectionFinish = samples::kAsOwn<GcFinish>;
  callbacks.virtual_thread_start = samples::kAsOwn<VirtualThreadStart>;
  callbacks.virtual_thread_end = samples::kAsOwn<VirtualThreadEnd>;
  return jvm::ToStatus(env, env->SetEventCallbacks(&callbacks.base, sizeof(callbacks)),
                       "SetEventCallbacks");
}

void JvmEvents::ThreadStart(JNIEnv* jni, jthread thread) {
  const Inside recording(gate_);
  if (gettid() == jvm_.agent_threads.control.load(std::memory_order_relaxed)) return;
  jvm_.metrics->ThreadStart(jni, thread);
  // A thread that is only counted gets no name: a start names the threads that run by then.
  if (jvm_.is_live.load() && !recording) return;
  const jvm::ThreadNumbers numbers = jvm_.registries.threads.Start(jni, thread);
  JoinFamilies(jni, numbers.java_tid);
  if (recording && recording->samples() != nullptr) {
    recording->samples()->AttachCurrentThread(jni, numbers);
  }
  if (recording && recording->switches() != nullptr) {
    recording->switches()->Attach(numbers.number, gettid());
  }
}

void JvmEvents::ThreadEnd() {
  samples::Sampler* const sampler = jvm_.sampler.load();
  if (sampler != nullptr) sampler->DetachCurrentThread();
  jvm_.metrics->ThreadEnding();
  const jvm::ThreadNumbers numbers = jvm_.registries.threads.End();
  if (const Inside recording(gate_); recording && recording->switches() != nullptr) {
    recording->switches()->End(numbers.number);
  }
  jvm_.probe_sets.ChargeRemainder(numbers.java_tid);
  jvm_.probe_sets.MarkThreadEnded(numbers.java_tid);
  jvm_.metrics->ThreadEnd();
  samples::SetLabels(signal_safe::kNoLabels, 0);
  LeaveFamilies(numbers.java_tid);
}

void JvmEvents::VirtualThreadStart(JNIEnv* jni, jthread thread) {
  jvm_.registries.threads.StartVirtual(jni, thread);
  if (!jvm_.families.empty()) JoinFamilies(jni, jvm_.registries.threads.JavaTid(jni, thread));
}

void JvmEvents::VirtualThreadEnd(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = jvm_.registries.threads.EndVirtual(jni, thread);
  jvm_.probe_sets.ChargeRemainder(java_tid);
  jvm_.probe_sets.MarkThreadEnded(java_tid);
  jvm_.metrics->VirtualThreadEnd(java_tid);
  samples::SetLabels(signal_safe::kNoLabels, java_tid);
  LeaveFamilies(java_tid);
}

void JvmEvents::JoinFamilies(JNIEnv* jni, uint64_t java_tid) {
  if (jvm_.families.empty()) return;
  for (const uint64_t window : metrics::InheritedWindows(jni)) jvm_.families.Add(window, java_tid);
}

void JvmEvents::LeaveFamilies(uint64_t java_tid) {
  if (jvm_.families.empty()) return;
  metrics::Values totals;
  for (uint32_t i = 0; i < totals.size(); ++i) {
    totals[i] = jvm_.metrics->counters().Of(java_tid, i).value_or(0);
  }
  jvm_.families.Leave(java_tid, totals);
}

void JvmEvents::ClassDefine(JNIEnv* jni, jobject loader, const char* name, jobject domain) {
  Registries& registries = jvm_.registries;
  if (name == nullptr || domain == nullptr) return;
  registries.classes.sources().Note(jni, DottedName(name), registries.loaders.Of(loader), domain);
}

void JvmEvents::ClassFileLoad(jclass redefined, jobject loader, const char* name,
                              std::span<const unsigned char> bytes, jint* new_size,
                              unsigned char** new_bytes) {
  // A stop, which requests no more probes, waits for the callbacks that are inside.
  const Inside recording(gate_);
  Registries& registries = jvm_.registries;
  std::vector<unsigned char> current;
  if (redefined != nullptr && jvm::IsRetransforming()) {
    current = registries.redefined.Current(registries.classes.NumberOf(redefined), bytes);
    if (!current.empty()) bytes = current;
  } else if (redefined != nullptr) {
    // Also while a stop takes probes out in batches: it must not undo the change.
    registries.classes.Renumber(redefined);
    ClassRedefine(recording ? &*recording : nullptr, redefined, name, bytes);
  }
  std::span<unsigned char> made;
  if (recording && recording->classes() != nullptr) {
    made = recording->classes()->instrumentation().Rewrite(jvm_.env, name, loader, bytes);
  }
  // They count nothing, but are there for the next recording.
  RestingProbes* const resting = jvm_.resting.load();
  if (made.empty() && resting != nullptr && !(recording && recording->options().probes_rest)) {
    made = resting->Rewrite(name, loader, bytes);
  }
  if (made.empty() && !current.empty()) made = jvm::CopyForJvm(jvm_.env, current);
  if (made.empty()) return;
  *new_size = static_cast<jint>(made.size());
  *new_bytes = made.data();
}

void JvmEvents::ClassRedefine(const Recording* recording, jclass klass, const char* name,
                              std::span<const unsigned char> bytes) {
  TraceParts& trace = jvm_.trace;
  if (!jvm_.registries.redefined.Note(jvm_.registries.classes.NumberOf(klass), bytes)) {
    trace.losses.Add(
        "class.redefined", Severity::kInfo, 1,
        "classes that other agents changed and JDK 17 may restore to their earlier state");
  }
  const uint64_t now = trace.clock.Now();
  if (recording == nullptr || name == nullptr ||
      !recording->options().codes.Has(Code::kClassRedefine) ||
      !trace.limited_events.Count(trace::LimitedEvent::kRedefine, now)) {
    return;
  }
  trace.encoder.AddEvent({.time_ns = now,
                          .major = format::kClass,
                          .minor = format::kClassRedefine,
                          .text = DottedName(name)});
}

void JvmEvents::ClassPrepare(jclass klass) {
  const Inside recording(gate_);
  if (recording && recording->samples() != nullptr) recording->samples()->NotePrepared(klass);
  jvm_.registries.classes.Prepare(klass, /*thread=*/0);
  if (!recording || recording->classes() == nullptr) return;
  if (recording->classes()->NoteLate(klass)) recording->Wake();
}

void JvmEvents::ObjectFree(jlong tag) {
  jvm_.registries.classes.Unload(tag);
  if (jvm::IsTag(tag, jvm::TagKind::kClass)) jvm_.unloaded.AddClass(jvm::TagNumber(tag));
  if (jvm::IsTag(tag, jvm::TagKind::kLoader)) jvm_.unloaded.AddLoader(jvm::TagNumber(tag));
}

void JvmEvents::CompiledMethodLoad(jmethodID method, jint size, const void* address,
                                   const void* compile_info) {
  const Inside recording(gate_);
  jvm_.registries.code.Load(method, size, address, compile_info);
  samples::Sampler* const sampler = jvm_.sampler.load();
  if (sampler != nullptr) {
    sampler->jvm().NoteCompiledCode(reinterpret_cast<uintptr_t>(address), compile_info);
  }
  if (recording) recording->calls().SetCompiled(method);
  jvm_.code_reports.AfterReport();
}

void JvmEvents::CompiledMethodUnload(jmethodID method, const void* address) {
  jvm_.registries.code.Unload(method, address);
}

void JvmEvents::DynamicCode(const char* name, const void* address, jint size) {
  jvm_.registries.code.DynamicCode(name, address, size);
  samples::Sampler* const sampler = jvm_.sampler.load();
  if (sampler == nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  sampler->jvm().AddStub(name, begin, begin + static_cast<uint32_t>(size));
}

void JvmEvents::NativeMethodBind() { jvm_.hooks.LookForObjects(); }

void JvmEvents::GcStart() {
  jvm_.metrics->GcStart(jvm_.trace.clock.Now());
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kGc,
                               .minor = format::kGcCycle,
                               .value = static_cast<int64_t>(gc_count_.fetch_add(1) + 1),
                               .text = jvm_.gc_cause.AtBegin()});
}

void JvmEvents::GcFinish() {
  jvm_.metrics->GcFinish(jvm_.trace.clock.Now());
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kGc,
                               .minor = format::kGcCycle | format::kEnd,
                               .value = static_cast<int64_t>(gc_count_.load()),
                               .text = jvm_.gc_cause.AtEnd()});
}

}  // namespace jtrace
