#include "agent/sampling/slot_pool.h"

#include <errno.h>
#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "absl/status/status.h"

namespace jtrace::sampling {
namespace {

// Zero pages that take memory only once they are written; null if there is no address space.
void* Reserve(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlotPool>> SlotPool::Create(uint32_t slots, uint32_t ring_bytes,
                                                           uint32_t max_frames) {
  void* const memory = Reserve(size_t{slots} * sizeof(hot::ThreadSlot));
  if (memory == nullptr) return absl::ErrnoToStatus(errno, "no memory for thread slots");
  // Zero pages are valid slots: every member may start as zero, state kFree.
  static_assert(static_cast<int>(hot::SlotState::kFree) == 0);
  return std::unique_ptr<SlotPool>(
      new SlotPool(static_cast<hot::ThreadSlot*>(memory), slots, ring_bytes, max_frames));
}

SlotPool::SlotPool(hot::ThreadSlot* slots, uint32_t capacity, uint32_t ring_bytes,
                   uint32_t max_frames)
    : slots_(slots), capacity_(capacity), ring_bytes_(ring_bytes), max_frames_(max_frames) {}

hot::ThreadSlot* SlotPool::Take() {
  if (!free_.empty()) {
    hot::ThreadSlot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  if (used_ == capacity_) return nullptr;
  auto* const slot = new (&slots_[used_]) hot::ThreadSlot{};
  if (!AddBuffers(slot)) return nullptr;
  ++used_;
  return slot;
}

void SlotPool::Give(hot::ThreadSlot* slot) {
  slot->state.store(hot::SlotState::kFree, std::memory_order_release);
  free_.push_back(slot);
}

bool SlotPool::AddBuffers(hot::ThreadSlot* slot) {
  const size_t frame_bytes = size_t{max_frames_} * sizeof(hot::Frame);
  void* const memory = Reserve(frame_bytes + ring_bytes_);
  if (memory == nullptr) return false;
  slot->chain_storage = static_cast<hot::Frame*>(memory);
  slot->chain_capacity = max_frames_;
  slot->ring.Init(static_cast<std::byte*>(memory) + frame_bytes, ring_bytes_);
  return true;
}

}  // namespace jtrace::sampling
