#include "agent/hot/thread_activity.h"

#include "agent/hot/memory/machine_context.h"
#include "agent/hot/memory/safe_read.h"

namespace jtrace::hot {
namespace {

// kRunning: the JVM does not know of any wait.
Activity JvmActivity(const VmLayout& vm, uintptr_t java_thread) {
  const auto& fields = vm.thread;
  if (fields.os_thread == kAbsent || fields.os_thread_state == kAbsent) return Activity::kRunning;
  const uintptr_t os_thread = SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.os_thread));
  int32_t state;
  if (!SafeRead(os_thread + static_cast<uintptr_t>(fields.os_thread_state), &state)) {
    return Activity::kRunning;
  }
  if (state == fields.os_monitor_wait) return Activity::kMonitor;
  if (state == fields.os_object_wait) return Activity::kObjectWait;
  if (state == fields.os_condvar_wait) return Activity::kWaiting;
  int32_t thread_state;
  const bool blocked =
      fields.thread_state != kAbsent &&
      SafeRead(java_thread + static_cast<uintptr_t>(fields.thread_state), &thread_state) &&
      thread_state == fields.thread_blocked;
  return blocked ? Activity::kWaiting : Activity::kRunning;
}

}  // namespace

Activity ActivityOf(const VmLayout* vm, uintptr_t java_thread, const ucontext_t* context) {
  const Activity jvm =
      vm != nullptr && java_thread != 0 ? JvmActivity(*vm, java_thread) : Activity::kRunning;
  if (jvm != Activity::kRunning) return jvm;
  return InterruptedCall(*context) ? Activity::kBlocked : Activity::kRunning;
}

}  // namespace jtrace::hot
