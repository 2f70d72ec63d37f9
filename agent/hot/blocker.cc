#include "agent/hot/blocker.h"

#include "agent/hot/memory/safe_read.h"

namespace jtrace::hot {
namespace {

uintptr_t At(uintptr_t object, int32_t offset) { return object + static_cast<uintptr_t>(offset); }

// A stretch of time in which no pause for a collection moved anything.
//
// The thread waits, so the JVM can stop the program without waiting for it: a collection may begin
// and end while the handler runs. During one a reference may already be new while the object is not
// there yet.
class StillHeap {
 public:
  explicit StillHeap(const HeapLayout& heap) : heap_(heap), begin_(Look()) {}

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
    if (!SafeRead(heap_.collecting, &active) || !SafeRead(heap_.collections, &count)) return {};
    return {active != 0, count};
  }

  const HeapLayout& heap_;
  const Collections begin_;
};

uintptr_t ReferenceAt(const HeapLayout& heap, uintptr_t address) {
  if (!heap.narrow_references) return SafeReadOr0(address);
  uint32_t narrow;
  if (!SafeRead(address, &narrow) || narrow == 0) return 0;
  return heap.reference_base + (uintptr_t{narrow} << heap.reference_shift);
}

// The collector has put the address of the object's copy into its header: a copy whose fields may
// be old, and with kInMark not a usable header.
bool IsMoved(uintptr_t mark) { return (mark & 3) == 3; }

bool IsKlass(const HeapLayout& heap, uintptr_t klass) {
  return klass % 8 == 0 && SafeReadOr0(At(klass, heap.first_super)) == heap.object_klass;
}

// 0: there is no readable object at `object`.
uintptr_t KlassOf(const HeapLayout& heap, uintptr_t object) {
  uintptr_t mark;
  if (!SafeReadWord(At(object, heap.mark), &mark) || IsMoved(mark)) return 0;
  uintptr_t klass = 0;
  uint32_t narrow;
  switch (heap.klass_word) {
    case HeapLayout::KlassWord::kPointer:
      klass = SafeReadOr0(At(object, heap.klass));
      break;
    case HeapLayout::KlassWord::kNarrow:
      if (!SafeRead(At(object, heap.klass), &narrow)) return 0;
      klass = heap.klass_base + (uintptr_t{narrow} << heap.klass_shift);
      break;
    case HeapLayout::KlassWord::kInMark:
      klass = heap.klass_base + (mark >> heap.mark_klass_shift << heap.klass_shift);
      break;
  }
  return IsKlass(heap, klass) ? klass : 0;
}

// While a handle is unchanged, the object there has not been released.
bool FindMonitor(const HeapLayout& heap, uintptr_t java_thread, Activity activity,
                 uintptr_t* klass) {
  const bool entering = activity == Activity::kMonitor;
  uintptr_t monitor =
      SafeReadOr0(At(java_thread, entering ? heap.pending_monitor : heap.waiting_monitor));
  // A notified thread enters the monitor again, which is not reported as a pending one.
  if (monitor == 0 && entering) monitor = SafeReadOr0(At(java_thread, heap.waiting_monitor));
  const uintptr_t handle = SafeReadOr0(At(monitor, heap.monitor_object));
  const uintptr_t object = SafeReadOr0(handle);
  *klass = KlassOf(heap, object);
  return *klass != 0 && SafeReadOr0(handle) == object;
}

bool FindParkBlocker(const HeapLayout& heap, uintptr_t java_thread, uintptr_t* klass) {
  const uintptr_t handle = SafeReadOr0(At(java_thread, heap.thread_object));
  const uintptr_t thread = SafeReadOr0(handle);
  if (KlassOf(heap, thread) == 0) return false;
  const uintptr_t field = At(thread, heap.park_blocker);
  const uintptr_t blocker = ReferenceAt(heap, field);
  *klass = blocker != 0 ? KlassOf(heap, blocker) : 0;
  return (*klass != 0 || blocker == 0) && ReferenceAt(heap, field) == blocker &&
         SafeReadOr0(handle) == thread;
}

}  // namespace

bool FindBlocker(const HeapLayout& heap, uintptr_t java_thread, Activity activity,
                 uintptr_t* klass) {
  *klass = 0;
  const bool at_monitor = activity == Activity::kMonitor || activity == Activity::kObjectWait;
  if (!at_monitor && activity != Activity::kWaiting) return true;
  if (!heap.readable) return false;
  const StillHeap still(heap);
  const bool found = at_monitor ? FindMonitor(heap, java_thread, activity, klass)
                                : FindParkBlocker(heap, java_thread, klass);
  if (found && still.Holds()) return true;
  *klass = 0;
  return false;
}

bool FindThreadId(const HeapLayout& heap, uintptr_t java_thread, uint64_t* id) {
  if (!heap.readable || heap.thread_id <= 0) return false;
  const StillHeap still(heap);
  const uintptr_t handle = SafeReadOr0(At(java_thread, heap.thread_object));
  const uintptr_t thread = SafeReadOr0(handle);
  if (KlassOf(heap, thread) == 0) return false;
  uintptr_t word;
  if (!SafeReadWord(At(thread, heap.thread_id), &word) || word == 0) return false;
  *id = word;
  return SafeReadOr0(handle) == thread && still.Holds();
}

}  // namespace jtrace::hot
