#include "agent/recording/jvmti_events.h"

#include <array>

#include "agent/jvm/jvmti_calls.h"

namespace jtrace {
namespace {

constexpr std::array kEarlyEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                     JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                     JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kLastingEvents = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_END,
                                       JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kServingEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                       JVMTI_EVENT_THREAD_END, JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kThreadStarts = {JVMTI_EVENT_THREAD_START};
constexpr std::array kClassFileEvents = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};

}  // namespace

jvmtiCapabilities WantedCapabilities(const Options& options) {
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = 1;
  wanted.can_generate_object_free_events = 1;
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_generate_native_method_bind_events = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  if (options.WantsCalls()) {
    wanted.can_generate_all_class_hook_events = 1;
    wanted.can_retransform_classes = 1;
    wanted.can_get_bytecodes = 1;
  }
  return wanted;
}

absl::Status EnableEarlyEvents(jvmtiEnv* env, CompiledCodeReports& reports,
                               const Options& options) {
  absl::Status status = reports.Expect(options);
  if (options.WantsStubs()) status.Update(jvm::EnableEvents(env, kStubEvents));
  status.Update(jvm::EnableEvents(env, kEarlyEvents));
  return status;
}

absl::Status EnableServingEvents(jvmtiEnv* env) { return jvm::EnableEvents(env, kServingEvents); }

absl::Status EnableLastingEvents(jvmtiEnv* env) { return jvm::EnableEvents(env, kLastingEvents); }

absl::Status EnableClassFileEvents(jvmtiEnv* env) {
  return jvm::EnableEvents(env, kClassFileEvents);
}

void DisableClassFileEvents(jvmtiEnv* env) {
  jvm::DisableEvents(env, kClassFileEvents).IgnoreError();
}

void EnableThreadStarts(jvmtiEnv* env, EventState& events) {
  events.counts_threads.store(true);
  jvm::EnableEvents(env, kThreadStarts).IgnoreError();
}

}  // namespace jtrace
