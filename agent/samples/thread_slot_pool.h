// The memory of the thread slots.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

// A fixed region of slots. It is reserved at once, takes memory as slots are used, and is never
// unmapped, because signals that name a slot may arrive at any later time. Not thread-safe.
class ThreadSlotPool {
 public:
  struct Sizes {
    uint32_t slots;
    uint32_t ring_bytes;   // a power of two
    uint32_t max_frames;   // frames of a chain that are kept
    bool check_last_walk;  // SamplerOptions::check_last_walk
  };
  static absl::StatusOr<std::unique_ptr<ThreadSlotPool>> Create(const Sizes& sizes);

  // Returns a free slot with an empty ring. Null: all are in use, or there is no memory.
  ThreadSlot* Allocate();
  // Takes back the slot of an ended thread with a drained ring. Releases most of its memory.
  void Free(ThreadSlot* slot);

  ThreadSlot* slots() const { return slots_; }
  uint32_t capacity() const { return sizes_.slots; }
  // Slots below this index of the region were allocated at least once.
  uint32_t used() const { return used_; }

 private:
  ThreadSlotPool(ThreadSlot* slots, const Sizes& sizes);
  bool AddBuffers(ThreadSlot* slot);
  void ReleaseBuffers(ThreadSlot* slot) const;

  ThreadSlot* const slots_;
  const Sizes sizes_;
  uint32_t used_ = 0;
  std::vector<ThreadSlot*> free_;
};

}  // namespace jtrace::samples
