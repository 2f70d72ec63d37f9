#include "agent/calls/trees/basic_block_counters.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/calls/trees/memory_recyclers.h"

namespace jtrace::calls {
namespace {

// Returns null if there is no address space.
void* ReserveMemory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BasicBlockCounters>> BasicBlockCounters::Reserve(bool by_path) {
  constexpr uint64_t kHeader = offsetof(signal_safe::SharedBlocks, counts);
  constexpr uint64_t kFirst =
      sizeof(signal_safe::SharedBlocks::counts) / (sizeof(signal_safe::OwnBlocks));
  constexpr uint64_t kMaxThreads = 8192;
  constexpr size_t kOwners = signal_safe::kSharedBlockIds * sizeof(uint64_t);
  for (uint64_t threads = by_path ? 1 : kMaxThreads; threads > 0; threads /= 2) {
    const size_t bytes = kHeader + (kFirst + threads) * sizeof(signal_safe::OwnBlocks);
    auto* shared = static_cast<signal_safe::SharedBlocks*>(ReserveMemory(bytes));
    if (shared == nullptr) continue;
    void* owners = by_path ? ReserveMemory(kOwners) : nullptr;
    if (by_path && owners == nullptr) {
      munmap(shared, bytes);
      continue;
    }
    shared->next = kFirst;
    shared->limit = kFirst + threads;
    return absl::WrapUnique(new BasicBlockCounters(shared, static_cast<uint64_t*>(owners)));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("no address space for the counters of blocks, which reserve ",
                   (sizeof(signal_safe::SharedBlocks) + (by_path ? kOwners : 0)) >> 20,
                   " MB; raise it (ulimit -v unlimited), or record without blocks=on"));
}

void BasicBlockCounters::SetOwner(uint32_t first, uint32_t count, uint32_t routine, bool is_leaf) {
  if (owners_ == nullptr || count > signal_safe::BlockOwner::kMaxSize ||
      first + count > signal_safe::kSharedBlockIds) {
    return;
  }
  for (uint32_t index = 0; index < count; ++index) {
    signal_safe::WriteRelaxed(owners_[first + index],
                              signal_safe::BlockOwner::Pack(routine, is_leaf, count, index));
  }
}

void BasicBlockCounters::BeginRecording() {
  signal_safe::WriteRelaxed(shared_->out_of_memory, uint64_t{0});
  signal_safe::WriteRelease(shared_->recording, uint64_t{next_.load(std::memory_order_relaxed)});
}

void BasicBlockCounters::AddOwn(const signal_safe::ThreadState& state,
                                std::vector<uint64_t>& sums) const {
  if (!HasOwn(state)) return;
  const size_t ids = std::min(next_.load(std::memory_order_relaxed), signal_safe::kBlockIds);
  if (sums.size() < ids) sums.resize(ids);
  const auto& own = *reinterpret_cast<const signal_safe::OwnBlocks*>(state.blocks);
  for (size_t id = 1; id < ids; ++id) sums[id] += signal_safe::ReadRelaxed(own.counts[id]);
}

std::vector<uint64_t> BasicBlockCounters::Collect(signal_safe::Arena* arena) const {
  std::vector<uint64_t> sums = ended_;
  sums.resize(std::min(next_.load(std::memory_order_relaxed), signal_safe::kSharedBlockIds));
  for (size_t id = 1; id < sums.size(); ++id) {
    sums[id] += signal_safe::ReadRelaxed(shared_->counts[id]);
  }
  StateRecycler(arena).ForEachLive([&](signal_safe::ThreadState& state) { AddOwn(state, sums); });
  return sums;
}

void BasicBlockCounters::Free(const signal_safe::ThreadState& state) {
  // With record=flat the counters are part of the state (FlatState) and are released with it.
  const uint64_t end_of_all = shared_address() + shared_->limit * sizeof(signal_safe::OwnBlocks);
  if (!HasOwn(state) || state.blocks < shared_address() || state.blocks >= end_of_all) return;
  auto& own = *reinterpret_cast<signal_safe::OwnBlocks*>(state.blocks);
  // Zeroed without writing to untouched pages. Other threads share the first and the last page.
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (state.blocks + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (state.blocks + sizeof own) & ~(kPage - 1);
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0) {
    std::memset(&own, 0, begin - state.blocks);
    std::memset(reinterpret_cast<void*>(end), 0, state.blocks + sizeof own - end);
  } else {
    std::memset(&own, 0, sizeof own);
  }
  const uint64_t number = (state.blocks - shared_address()) / sizeof own;
  std::atomic_ref<uint64_t> free(shared_->free);
  uint64_t head = free.load(std::memory_order_relaxed);
  do {
    signal_safe::WriteRelaxed(own.counts[0], head & 0xFFFFFFFF);
  } while (!free.compare_exchange_weak(head, (head & ~0xFFFFFFFFull) | number));
}

}  // namespace jtrace::calls
