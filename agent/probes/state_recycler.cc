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

void StateRecycler::ForEach(absl::FunctionRef<void(ThreadState&, bool)> visit) {
  FreeRetired();
  for (Ref& bucket : arena_->buckets) VisitBucket(bucket, visit);
}

void StateRecycler::Look(absl::FunctionRef<void(ThreadState&)> visit) const {
  for (const Ref& bucket : arena_->buckets) {
    for (Ref ref = hot::ReadAcquire(bucket); ref != 0;) {
      auto& state = *At<ThreadState>(arena_, ref);
      visit(state);
      ref = ReadRelaxed(state.next);
    }
  }
}

void StateRecycler::VisitBucket(Ref& bucket, absl::FunctionRef<void(ThreadState&, bool)> visit) {
  Ref* link = &bucket;
  for (Ref ref = hot::ReadAcquire(bucket); ref != 0;) {
    auto& state = *At<ThreadState>(arena_, ref);
    // Before the tree is read, so that the last visit sees the last counts.
    const bool ended = hot::ReadAcquire(state.ended) != 0;
    visit(state, ended);
    ref = ReadRelaxed(state.next);
    if (ended) {
      Unlink(bucket, link, state);
      retired_.push_back(&state);
    } else {
      link = &state.next;
    }
  }
}

void StateRecycler::Unlink(Ref& bucket, Ref* link, ThreadState& state) {
  const Ref self = RefOf(arena_, &state);
  const Ref next = ReadRelaxed(state.next);
  Ref expected = self;
  if (link == &bucket) {
    if (std::atomic_ref<Ref>(bucket).compare_exchange_strong(expected, next)) return;
    // A new thread came before it meanwhile; behind the head only we change links.
    link = &At<ThreadState>(arena_, expected)->next;
    while (ReadRelaxed(*link) != self) link = &At<ThreadState>(arena_, ReadRelaxed(*link))->next;
  }
  hot::WriteRelaxed(*link, next);
}

void StateRecycler::FreeRetired() {
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
