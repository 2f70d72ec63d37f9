#include "agent/events/wait_writer.h"

#include <array>

#include "agent/base/class_names.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/signal_safe/position.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

std::string ClassNameOf(jvmtiEnv* env, JNIEnv* jni, jobject object) {
  if (object == nullptr) return "";
  const jvm::LocalRef<jclass> klass(jni, jni->GetObjectClass(object));
  return jvm::ClassName(env, klass.get());
}

}  // namespace

proto::WaitEvent MakeWaitEvent(proto::WaitEvent::Cause cause, uint32_t by_thread) {
  proto::WaitEvent wait;
  wait.set_cause(cause);
  wait.set_by_thread(by_thread);
  return wait;
}

bool ThreadHasState(jvmtiEnv* env, jthread thread, jint flag) {
  jint state = 0;
  return env->GetThreadState(thread, &state) == JVMTI_ERROR_NONE && (state & flag) != 0;
}

// The innermost routine may be a call that leaves the scope, such as a park, and not a method.
uint32_t WaitWriter::RoutineOf(uint64_t java_tid) {
  std::array<uint32_t, 8> routines;
  const uint32_t count = signal_safe::ReadCallPath(java_tid, routines.data(), routines.size());
  for (uint32_t i = 0; i < count; ++i) {
    if (context_.encoder.IsMethod(routines[i])) return routines[i];
  }
  return 0;
}

void WaitWriter::Add(jvmtiEnv* env, JNIEnv* jni, jthread thread, const EndedWait& ended,
                     proto::WaitEvent wait) {
  wait.set_routine(RoutineOf(context_.threads.JavaTid(jni, thread)));
  const std::string name = ClassNameOf(env, jni, ended.object);
  context_.encoder.AddWaitEvent({.time_ns = ended.end_ns,
                                 .thread = context_.NumberOf(jni, thread),
                                 .major = format::kWaited,
                                 .minor = ended.minor,
                                 .value = static_cast<int64_t>(ended.end_ns - ended.begin_ns),
                                 .text = name},
                                wait);
}

}  // namespace jtrace::events
