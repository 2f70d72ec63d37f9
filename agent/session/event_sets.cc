#include "agent/session/event_sets.h"

#include <array>

namespace jtrace {
namespace {

constexpr std::array kEarlyEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                     JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                     JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kStubEvents = {JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
constexpr std::array kLiveEvents = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_CLASS_PREPARE,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
constexpr std::array kLastingEvents = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_END,
                                       JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kServingEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                       JVMTI_EVENT_THREAD_END, JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kThreadStarts = {JVMTI_EVENT_THREAD_START};
constexpr std::array kVirtualThreadStarts = {jvm::kVirtualThreadStart};
constexpr std::array kVirtualThreadEnds = {jvm::kVirtualThreadEnd};
constexpr std::array kClassFileEvents = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};
constexpr std::array kBindEvents = {JVMTI_EVENT_NATIVE_METHOD_BIND};

}  // namespace

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

absl::Status EnableEarlyEvents(JvmParts& jvm, const Options& options) {
  absl::Status status = jvm.code_reports.Expect(options);
  if (options.WantsStubs()) status.Update(jvm::EnableEvents(jvm.env, kStubEvents));
  status.Update(jvm::EnableEvents(jvm.env, kEarlyEvents));
  return status;
}

absl::Status EnableServingEvents(jvmtiEnv* env) { return jvm::EnableEvents(env, kServingEvents); }

absl::Status EnableLastingEvents(jvmtiEnv* env) { return jvm::EnableEvents(env, kLastingEvents); }

void EnableRecordedEvents(JvmParts& jvm, const Options& options) {
  jvm::EnableEvents(jvm.env, kLiveEvents).IgnoreError();
  if (options.WantsStubs()) jvm::EnableEvents(jvm.env, kStubEvents).IgnoreError();
  jvm.code_reports.Start(options, jvm.code_reader());
  jvm.extra_events.Start(options.codes);
  jvm.io_records.Start(options.codes);
  jvm.waited_records.Start(options.codes);
  jvm.sees_virtual_ends.store(jvm.granted.virtual_threads && options.WantsEvents());
  jvm.segments.Start(options.codes);
  if (!jvm.sees_virtual_ends.load()) return;
  jvm::EnableEvents(jvm.env, kVirtualThreadStarts).IgnoreError();
  jvm::EnableEvents(jvm.env, kVirtualThreadEnds).IgnoreError();
}

absl::Status EnableClassFileEvents(jvmtiEnv* env) {
  return jvm::EnableEvents(env, kClassFileEvents);
}

void DisableClassFileEvents(jvmtiEnv* env) {
  jvm::DisableEvents(env, kClassFileEvents).IgnoreError();
}

void EnableBindEvents(jvmtiEnv* env) { jvm::EnableEvents(env, kBindEvents).IgnoreError(); }

void CountThreads(JvmParts& jvm) {
  jvm.counts_threads.store(true);
  jvm::EnableEvents(jvm.env, kThreadStarts).IgnoreError();
}

void DisableRecordedEvents(JvmParts& jvm) {
  jvm.metrics->StopSources(jvm.trace.losses);
  jvm.extra_events.Stop();
  jvm.io_records.Stop();
  jvm.waited_records.Stop();
  jvm.segments.Stop();
  jvm::DisableEvents(jvm.env, kLiveEvents).IgnoreError();
  jvm::DisableEvents(jvm.env, kStubEvents).IgnoreError();
  jvm.code_reports.Stop();
  jvm::DisableEvents(jvm.env, kBindEvents).IgnoreError();
  if (jvm.counts_threads.load()) CountThreads(jvm);
  if (jvm.granted.virtual_threads) {
    jvm::DisableEvents(jvm.env, kVirtualThreadStarts).IgnoreError();
  }
}

}  // namespace jtrace
