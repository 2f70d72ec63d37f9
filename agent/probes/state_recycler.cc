#include "agent/probes/state_recycler.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

namespace jtrace {

using hot::At;
using hot::Chunk;
using hot::ReadRelaxed;
using hot::Ref;
using hot::RefOf;
using hot::ThreadState;

void StateRecycler::TakeEnded(absl::FunctionRef<void(ThreadState&)> visit) {
  std::atomic_ref<uint64_t> ended(arena_->ended);
  auto ref = static_cast<Ref>(ended.exchange(0, std::memory_order_acquire));
  while (ref != 0) {
    auto& state = *At<ThreadState>(arena_, ref);
    ref = ReadRelaxed(state.ended_next);
    Unlink(state);
    visit(state);
  }
}

void StateRecycler::ForEachLive(absl::FunctionRef<void(ThreadState&)> visit) {
  for (const Ref& bucket : arena_->buckets) {
    for (Ref ref = hot::ReadAcquire(bucket); ref != 0;) {
      auto& state = *At<ThreadState>(arena_, ref);
      visit(state);
      ref = ReadRelaxed(state.next);
    }
  }
}

void StateRecycler::Unlink(ThreadState& state) {
  Ref& bucket = arena_->buckets[state.tid % hot::kBucketCount];
  const Ref self = RefOf(arena_, &state);
  const Ref next = ReadRelaxed(state.next);
  Ref expected = self;
  if (std::atomic_ref<Ref>(bucket).compare_exchange_strong(expected, next)) return;
  // Others stand before it; behind the head only we change links.
  Ref* link = &At<ThreadState>(arena_, expected)->next;
  while (ReadRelaxed(*link) != self) link = &At<ThreadState>(arena_, ReadRelaxed(*link))->next;
  hot::WriteRelease(*link, next);
}

void StateRecycler::FreeRetired() {
  if (retired_.empty()) return;
  std::atomic_ref<uint64_t>(arena_->frees).fetch_add(1);
  for (ThreadState* state : retired_) {
    for (Ref ref = state->chunks; ref != 0;) {
      auto& chunk = *At<Chunk>(arena_, ref);
      ref = chunk.next;
      // The chunk with the state comes last in the list.
      FreeChunk(chunk);
    }
  }
  retired_.clear();
}

void StateRecycler::FreeChunk(Chunk& chunk) {
  constexpr uint64_t kGiveBackBytes = 1 << 20;
  const uint32_t size_class = chunk.size_class;
  const uint64_t bytes = hot::ChunkBytes(size_class);
  char* end = reinterpret_cast<char*>(&chunk) + bytes;
  char* page = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(&chunk) + 4095) & ~4095ull);
  // Zeroed either way; big chunks without writing to pages that may never have been touched.
  if (bytes >= kGiveBackBytes && madvise(page, (end - page) & ~4095ull, MADV_DONTNEED) == 0) {
    std::memset(&chunk, 0, page - reinterpret_cast<char*>(&chunk));
    char* rest = page + ((end - page) & ~4095ull);
    std::memset(rest, 0, end - rest);
  } else {
    std::memset(&chunk, 0, bytes);
  }
  chunk.size_class = size_class;
  std::atomic_ref<uint64_t> free(arena_->free[size_class]);
  uint64_t head = free.load(std::memory_order_relaxed);
  do {
    hot::WriteRelaxed(chunk.next, static_cast<Ref>(head));
  } while (!free.compare_exchange_weak(head, (head & ~0xFFFFFFFFull) | RefOf(arena_, &chunk)));
}

}  // namespace jtrace
