#include "agent/samples/handler/thread_identity.h"

#include "agent/samples/handler/thread_activity.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {

Identity CurrentJavaThread(const SampleHandlerConfig& config, const ThreadSlot& slot) {
  const uint64_t own = slot.java_tid.load(std::memory_order_relaxed);
  const uintptr_t thread = slot.java_thread.load(std::memory_order_relaxed);
  if (config.vm == nullptr || thread == 0) return {own, own != 0};
  const auto& fields = config.vm->thread;
  const Offset entry = fields.continuation_entry.load(std::memory_order_relaxed);
  if (entry == kAbsent) return {own, true};
  const uintptr_t mounted = signal_safe::SafeReadOr0(thread + static_cast<uintptr_t>(entry));
  if (mounted == 0) return {own, true};
  if (fields.monitor_owner_id == kAbsent) {
    uint64_t id = 0;
    const bool known = FindThreadId(config.vm->heap, thread, &id);
    return {id, known};
  }
  const uintptr_t id =
      signal_safe::SafeReadOr0(thread + static_cast<uintptr_t>(fields.monitor_owner_id));
  return {id, id != 0};
}

}  // namespace jtrace::samples
