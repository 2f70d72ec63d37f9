#include "agent/samples/handler/thread_activity.h"

#include "agent/signal_safe/machine_context.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {
namespace {

// Returns the JVM's state of the thread; kRunning: the JVM knows of no wait.
Activity JvmActivity(const VmLayout& vm, uintptr_t java_thread) {
  const auto& fields = vm.thread;
  if (fields.os_thread == kAbsent || fields.os_thread_state == kAbsent) return Activity::kRunning;
  const uintptr_t os_thread =
      signal_safe::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.os_thread));
  int32_t state;
  if (!signal_safe::SafeRead(os_thread + static_cast<uintptr_t>(fields.os_thread_state), &state)) {
    return Activity::kRunning;
  }
  if (state == fields.os_monitor_wait) return Activity::kMonitor;
  if (state == fields.os_object_wait) return Activity::kObjectWait;
  if (state == fields.os_condvar_wait) return Activity::kWaiting;
  int32_t thread_state;
  const bool blocked =
      fields.thread_state != kAbsent &&
      signal_safe::SafeRead(java_thread + static_cast<uintptr_t>(fields.thread_state),
                            &thread_state) &&
      thread_state == fields.thread_blocked;
  return blocked ? Activity::kWaiting : Activity::kRunning;
}

uintptr_t At(uintptr_t object, int32_t offset) { return object + static_cast<uintptr_t>(offset); }

// Checks that no pause for a collection moved anything between its construction and Holds.
class CollectionCheck {
 public:
  explicit CollectionCheck(const signal_safe::HeapLayout& heap) : heap_(heap), begin_(Look()) {}

  bool Holds() const {
    const Collections now = Look();
    return !begin_.active && !now.active && begin_.count == now.count;
  }

 private:
  struct Collections {
    bool active = true;
    uint32_t count = 0;
  };
  Collections Look() const {
    uint8_t active;
    uint32_t count;
    if (!signal_safe::SafeRead(heap_.collecting, &active) ||
        !signal_safe::SafeRead(heap_.collections, &count))
      return {};
    return {active != 0, count};
  }

  const signal_safe::HeapLayout& heap_;
  const Collections begin_;
};

uintptr_t ReferenceAt(const signal_safe::HeapLayout& heap, uintptr_t address) {
  if (!heap.narrow_references) return signal_safe::SafeReadOr0(address);
  uint32_t narrow;
  if (!signal_safe::SafeRead(address, &narrow) || narrow == 0) return 0;
  return heap.reference_base + (uintptr_t{narrow} << heap.reference_shift);
}

// The collector has put the address of the object's copy into its header: a copy whose fields may
// be old, and with kInMark not a usable header.
bool IsMoved(uintptr_t mark) { return (mark & 3) == 3; }

bool IsKlass(const signal_safe::HeapLayout& heap, uintptr_t klass) {
  return klass % 8 == 0 &&
         signal_safe::SafeReadOr0(At(klass, heap.first_super)) == heap.object_klass;
}

// Returns the Klass of the object; 0: there is no readable object.
uintptr_t KlassOf(const signal_safe::HeapLayout& heap, uintptr_t object) {
  uintptr_t mark;
  if (!signal_safe::SafeReadWord(At(object, heap.mark), &mark) || IsMoved(mark)) return 0;
  uintptr_t klass = 0;
  uint32_t narrow;
  switch (heap.klass_word) {
    case signal_safe::HeapLayout::KlassWord::kPointer:
      klass = signal_safe::SafeReadOr0(At(object, heap.klass));
      break;
    case signal_safe::HeapLayout::KlassWord::kNarrow:
      if (!signal_safe::SafeRead(At(object, heap.klass), &narrow)) return 0;
      klass = heap.klass_base + (uintptr_t{narrow} << heap.klass_shift);
      break;
    case signal_safe::HeapLayout::KlassWord::kInMark:
      klass = heap.klass_base + (mark >> heap.mark_klass_shift << heap.klass_shift);
      break;
  }
  return IsKlass(heap, klass) ? klass : 0;
}

// As long as the handle refers to the object, the memory of the object is not reused.
bool FindMonitor(const signal_safe::HeapLayout& heap, uintptr_t java_thread, Activity activity,
                 uintptr_t* klass) {
  const bool entering = activity == Activity::kMonitor;
  uintptr_t monitor = signal_safe::SafeReadOr0(
      At(java_thread, entering ? heap.pending_monitor : heap.waiting_monitor));
  // A notified thread enters the monitor again, which is not reported as a pending one.
  if (monitor == 0 && entering) {
    monitor = signal_safe::SafeReadOr0(At(java_thread, heap.waiting_monitor));
  }
  const uintptr_t handle = signal_safe::SafeReadOr0(At(monitor, heap.monitor_object));
  const uintptr_t object = signal_safe::SafeReadOr0(handle);
  *klass = KlassOf(heap, object);
  return *klass != 0 && signal_safe::SafeReadOr0(handle) == object;
}

bool FindParkBlocker(const signal_safe::HeapLayout& heap, uintptr_t java_thread, uintptr_t* klass) {
  const uintptr_t handle = signal_safe::SafeReadOr0(At(java_thread, heap.thread_object));
  const uintptr_t thread = signal_safe::SafeReadOr0(handle);
  if (KlassOf(heap, thread) == 0) return false;
  const uintptr_t field = At(thread, heap.park_blocker);
  const uintptr_t blocker = ReferenceAt(heap, field);
  *klass = blocker != 0 ? KlassOf(heap, blocker) : 0;
  return (*klass != 0 || blocker == 0) && ReferenceAt(heap, field) == blocker &&
         signal_safe::SafeReadOr0(handle) == thread;
}

}  // namespace

Activity ActivityOf(const VmLayout* vm, uintptr_t java_thread, const ucontext_t* context) {
  const Activity jvm =
      vm != nullptr && java_thread != 0 ? JvmActivity(*vm, java_thread) : Activity::kRunning;
  if (jvm != Activity::kRunning) return jvm;
  return signal_safe::InterruptedCall(*context) ? Activity::kBlocked : Activity::kRunning;
}

bool FindBlocker(const signal_safe::HeapLayout& heap, uintptr_t java_thread, Activity activity,
                 uintptr_t* klass) {
  *klass = 0;
  const bool at_monitor = activity == Activity::kMonitor || activity == Activity::kObjectWait;
  if (!at_monitor && activity != Activity::kWaiting) return true;
  if (!heap.readable) return false;
  const CollectionCheck still(heap);
  const bool found = at_monitor ? FindMonitor(heap, java_thread, activity, klass)
                                : FindParkBlocker(heap, java_thread, klass);
  if (found && still.Holds()) return true;
  *klass = 0;
  return false;
}

bool FindThreadId(const signal_safe::HeapLayout& heap, uintptr_t java_thread, uint64_t* id) {
  if (!heap.readable || heap.thread_id <= 0) return false;
  const CollectionCheck still(heap);
  const uintptr_t handle = signal_safe::SafeReadOr0(At(java_thread, heap.thread_object));
  const uintptr_t thread = signal_safe::SafeReadOr0(handle);
  if (KlassOf(heap, thread) == 0) return false;
  uintptr_t word;
  if (!signal_safe::SafeReadWord(At(thread, heap.thread_id), &word) || word == 0) return false;
  *id = word;
  return signal_safe::SafeReadOr0(handle) == thread && still.Holds();
}

}  // namespace jtrace::samples
