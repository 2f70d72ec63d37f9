#include "agent/samples/thread_slot_pool.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {
namespace {

// Reserves zero pages, which take memory when they are written. Null: no address space is left.
void* Reserve(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

// Releases memory that a thread with a deep stack or a full ring has used. The part that most
// threads use stays, so that new threads do not fault it in each time.
void Release(void* begin, size_t bytes) {
  constexpr uintptr_t kKept = uintptr_t{16} * 1024;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t from = (reinterpret_cast<uintptr_t>(begin) + kKept + page - 1) & ~(page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + bytes) & ~(page - 1);
  if (from < end) madvise(reinterpret_cast<void*>(from), end - from, MADV_DONTNEED);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadSlotPool>> ThreadSlotPool::Create(const Sizes& sizes) {
  void* const memory = Reserve(size_t{sizes.slots} * sizeof(ThreadSlot));
  if (memory == nullptr) return absl::ErrnoToStatus(errno, "no memory for thread slots");
  // Zero pages are valid slots: every member may start as zero, state kFree.
  static_assert(static_cast<int>(SlotState::kFree) == 0);
  return std::unique_ptr<ThreadSlotPool>(
      new ThreadSlotPool(static_cast<ThreadSlot*>(memory), sizes));
}

ThreadSlotPool::ThreadSlotPool(ThreadSlot* slots, const Sizes& sizes)
    : slots_(slots), sizes_(sizes) {}

ThreadSlot* ThreadSlotPool::Allocate() {
  if (!free_.empty()) {
    ThreadSlot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  if (used_ == sizes_.slots) return nullptr;
  auto* const slot = new (&slots_[used_]) ThreadSlot{};
  if (!AddBuffers(slot)) return nullptr;
  ++used_;
  return slot;
}

void ThreadSlotPool::Free(ThreadSlot* slot) {
  // Sequentially consistent, like the count of handlers: either a handler sees that the slot is
  // free, or this code sees the handler at work. The latter is possible if the sampler was stopped
  // meanwhile.
  slot->state.store(SlotState::kFree, std::memory_order_seq_cst);
  if (signal_safe::handlers_in_flight.Idle()) ReleaseBuffers(slot);
  free_.push_back(slot);
}

void ThreadSlotPool::ReleaseBuffers(ThreadSlot* slot) const {
  const size_t chain_bytes = size_t{slot->chain_capacity} * sizeof(Frame);
  Release(slot->chain_storage, chain_bytes);
  if (slot->check_storage != nullptr) Release(slot->check_storage, chain_bytes);
  Release(slot->ring.storage(), sizes_.ring_bytes);
  LastWalk::Storage& memory = *slot->last_walk;
  Release(memory.remembered, sizeof memory.remembered);
  Release(memory.walked, sizeof memory.walked);
  Release(memory.frames, sizeof memory.frames);
}

bool ThreadSlotPool::AddBuffers(ThreadSlot* slot) {
  // The memory of a walk holds deeper chains than a sample keeps; they are collected here first.
  const uint32_t chain_capacity = std::max(sizes_.max_frames, LastWalk::kCapacity);
  const size_t chain_bytes = size_t{chain_capacity} * sizeof(Frame);
  const size_t check_bytes = sizes_.check_last_walk ? chain_bytes : 0;
  auto* at = static_cast<std::byte*>(
      Reserve(chain_bytes + check_bytes + sizes_.ring_bytes + sizeof(LastWalk::Storage)));
  if (at == nullptr) return false;
  const auto take = [&at](size_t bytes) { return std::exchange(at, at + bytes); };
  slot->chain_storage = reinterpret_cast<Frame*>(take(chain_bytes));
  slot->chain_capacity = chain_capacity;
  slot->max_frames = sizes_.max_frames;
  if (check_bytes != 0) slot->check_storage = reinterpret_cast<Frame*>(take(check_bytes));
  slot->ring.Init(take(sizes_.ring_bytes), sizes_.ring_bytes);
  slot->last_walk = reinterpret_cast<LastWalk::Storage*>(take(sizeof(LastWalk::Storage)));
  return true;
}

}  // namespace jtrace::samples
