// The memory of the thread slots.
#ifndef JTRACE_AGENT_SAMPLING_SLOT_POOL_H_
#define JTRACE_AGENT_SAMPLING_SLOT_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/hot/thread_slot.h"

namespace jtrace::sampling {

// A fixed region of slots, reserved at once and backed by memory as slots are used. It is never
// unmapped: signals that name a slot may arrive at any time later. Not thread-safe.
class SlotPool {
 public:
  // ring_bytes: a power of two; max_frames: frames a chain may keep.
  static absl::StatusOr<std::unique_ptr<SlotPool>> Create(uint32_t slots, uint32_t ring_bytes,
                                                          uint32_t max_frames);

  // A free slot with empty ring, or null: all are in use, or there is no memory.
  hot::ThreadSlot* Take();
  // The slot's thread is gone and its ring is drained.
  void Give(hot::ThreadSlot* slot);

  hot::ThreadSlot* slots() const { return slots_; }
  uint32_t capacity() const { return capacity_; }
  // Slots that were ever taken are the first of the region.
  uint32_t used() const { return used_; }

 private:
  SlotPool(hot::ThreadSlot* slots, uint32_t capacity, uint32_t ring_bytes, uint32_t max_frames);
  bool AddBuffers(hot::ThreadSlot* slot);

  hot::ThreadSlot* const slots_;
  const uint32_t capacity_;
  const uint32_t ring_bytes_;
  const uint32_t max_frames_;
  uint32_t used_ = 0;
  std::vector<hot::ThreadSlot*> free_;
};

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_SLOT_POOL_H_
