#include "agent/session/jvm_event_dispatcher.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "agent/api/jni/java_api.h"
#include "agent/base/class_names.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/jvm/loader_ids.h"
#include "agent/recording/resting_probes.h"
#include "agent/samples/handler/thread_labels.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

using Inside = Gate<Recording>::Inside;

}  // namespace

void JvmEventDispatcher::ThreadStart(JNIEnv* jni, jthread thread) {
  const Inside recording(gate_);
  if (signal_safe::tls_is_agent_thread) return;
  agent_.metrics.ThreadStart(jni, thread);
  // A thread that is only counted gets no name: a start names the threads that run by then.
  if (jvm_.program_runs.load() && !recording) return;
  const jvm::TraceThreadIds numbers = jvm_.registries.threads.Start(jni, thread);
  JoinDescendants(jni, numbers.java_tid);
  if (!recording) return;
  recording->ForEachPart([&](RecordingPart& part) { part.ThreadStarted(jni, numbers); });
}

// What the thread counted last is charged before its tree is handed over, and its numbers stay
// known until everything that names it is done.
void JvmEventDispatcher::ThreadEnd() {
  samples::Sampler* const sampler = jvm_.sampler.load();
  if (sampler != nullptr) sampler->DetachCurrentThread();
  agent_.metrics.ThreadEnding();
  const jvm::TraceThreadIds numbers = jvm_.registries.threads.End();
  if (const Inside recording(gate_); recording) {
    recording->ForEachPart([&](RecordingPart& part) { part.ThreadEnding(numbers); });
  }
  agent_.probes.sets.ChargeRemainder(numbers.java_tid);
  agent_.probes.sets.NotifyThreadEnded(numbers.java_tid);
  agent_.metrics.ThreadEnd();
  samples::SetLabels(samples::kNoLabels, 0);
  LeaveDescendants(numbers.java_tid);
  // This is last, because the writer may need the thread's name until then.
  jvm_.registries.threads.Release(numbers.java_tid);
}

void JvmEventDispatcher::VirtualThreadStart(JNIEnv* jni, jthread thread) {
  jvm_.registries.threads.StartVirtual(jni, thread);
  if (!agent_.descendants.empty())
    JoinDescendants(jni, jvm_.registries.threads.JavaTid(jni, thread));
}

void JvmEventDispatcher::VirtualThreadEnd(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = jvm_.registries.threads.JavaTid(jni, thread);
  agent_.probes.sets.ChargeRemainder(java_tid);
  agent_.probes.sets.NotifyThreadEnded(java_tid);
  agent_.metrics.VirtualThreadEnd(java_tid);
  samples::SetLabels(samples::kNoLabels, java_tid);
  LeaveDescendants(java_tid);
  jvm_.registries.threads.Release(java_tid);
}

void JvmEventDispatcher::JoinDescendants(JNIEnv* jni, uint64_t java_tid) {
  if (agent_.descendants.empty()) return;
  for (const uint64_t window : api::InheritedWindows(jni)) agent_.descendants.Add(window, java_tid);
}

void JvmEventDispatcher::LeaveDescendants(uint64_t java_tid) {
  if (agent_.descendants.empty()) return;
  metrics::Values totals;
  for (uint32_t i = 0; i < totals.size(); ++i) {
    totals[i] = agent_.metrics.counters().Of(java_tid, i).value_or(0);
  }
  agent_.descendants.Leave(java_tid, totals);
}

void JvmEventDispatcher::ClassDefine(JNIEnv* jni, jobject loader, const char* name,
                                     jobject domain) {
  Registries& registries = jvm_.registries;
  if (name == nullptr || domain == nullptr) return;
  registries.classes.locations().Add(jni, DottedName(name), registries.loaders.Of(loader), domain);
}

void JvmEventDispatcher::ClassFileLoad(jclass redefined, jobject loader, const char* name,
                                       std::span<const unsigned char> bytes, jint* new_size,
                                       unsigned char** new_bytes) {
  // Stays inside the gate to the end: a stop waits for that, so that no probes are added after it.
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
  if (recording && recording->calls() != nullptr) {
    made = recording->calls()->classes().instrumentation().Rewrite(jvm_.env, name, loader, bytes);
  }
  // They count nothing, but are there for the next recording.
  RestingProbes* const resting = agent_.probes.resting.load();
  if (made.empty() && resting != nullptr && !(recording && recording->options().probes_rest)) {
    made = resting->Rewrite(name, loader, bytes);
  }
  if (made.empty() && !current.empty()) made = jvm::CopyForJvm(jvm_.env, current);
  if (made.empty()) return;
  *new_size = static_cast<jint>(made.size());
  *new_bytes = made.data();
}

void JvmEventDispatcher::ClassRedefine(const Recording* recording, jclass klass, const char* name,
                                       std::span<const unsigned char> bytes) {
  TraceState& trace = jvm_.trace;
  if (!jvm_.registries.redefined.Add(jvm_.registries.classes.NumberOf(klass), bytes)) {
    trace.losses.Add(
        "class.redefined", Severity::kInfo, 1,
        "classes that other agents changed and JDK 17 may restore to their earlier state");
  }
  const uint64_t now = trace.clock.Now();
  if (recording == nullptr || name == nullptr ||
      !recording->options().codes.Has(Code::kClassRedefine) ||
      !trace.limited_events.Count(Code::kClassRedefine, now)) {
    return;
  }
  trace.encoder.AddEvent({.time_ns = now,
                          .major = format::kClass,
                          .minor = format::kClassRedefine,
                          .text = DottedName(name)});
}

void JvmEventDispatcher::ClassPrepare(jclass klass) {
  const Inside recording(gate_);
  jvm_.registries.classes.RecordPrepared(klass);
  if (!recording) return;
  recording->ForEachPart([klass](RecordingPart& part) { part.ClassPrepared(klass); });
}

void JvmEventDispatcher::ObjectFree(jlong tag) {
  jvm_.registries.classes.Unload(tag);
  if (jvm::IsTag(tag, jvm::TagKind::kClass)) agent_.unloaded.AddClass(jvm::TagNumber(tag));
  if (jvm::IsTag(tag, jvm::TagKind::kLoader)) agent_.unloaded.AddLoader(jvm::TagNumber(tag));
}

void JvmEventDispatcher::CompiledMethodLoad(jmethodID method, jint size, const void* address,
                                            const void* compile_info) {
  const Inside recording(gate_);
  jvm_.registries.code.Load(method, size, address, compile_info);
  if (jvm_.sampler.load() != nullptr) {
    jvm_.hotspot.CheckCompiledCode(reinterpret_cast<uintptr_t>(address), compile_info);
  }
  if (recording) {
    recording->ForEachPart([method](RecordingPart& part) { part.MethodCompiled(method); });
  }
  agent_.code_reports.AfterReport();
}

void JvmEventDispatcher::CompiledMethodUnload(jmethodID method, const void* address) {
  jvm_.registries.code.Unload(method, address);
}

void JvmEventDispatcher::DynamicCode(const char* name, const void* address, jint size) {
  jvm_.registries.code.DynamicCode(name, address, size);
  if (jvm_.sampler.load() == nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  jvm_.hotspot.AddStub(name, begin, begin + static_cast<uint32_t>(size));
}

void JvmEventDispatcher::NativeMethodBind() { agent_.hooks.SearchObjects(); }

void JvmEventDispatcher::GcStart() {
  agent_.metrics.GcStart(jvm_.trace.clock.Now());
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kGc,
                               .minor = format::kGcCycle,
                               .value = static_cast<int64_t>(gc_count_.fetch_add(1) + 1),
                               .text = agent_.events.gc_cause.AtBegin()});
}

void JvmEventDispatcher::GcFinish() {
  agent_.metrics.GcFinish(jvm_.trace.clock.Now());
  jvm_.trace.encoder.AddEvent({.time_ns = jvm_.trace.clock.Now(),
                               .major = format::kGc,
                               .minor = format::kGcCycle | format::kEnd,
                               .value = static_cast<int64_t>(gc_count_.load()),
                               .text = agent_.events.gc_cause.AtEnd()});
}

}  // namespace jtrace
