#include "agent/probes/state_recycler.h"

#include <atomic>

#include "agent/probes/block_counters.h"
#include "agent/probes/chunk_recycler.h"
#include "agent/probes/ring_chain.h"

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
    if (blocks_ != nullptr) blocks_->AddEnded(state);
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
  // Others are before it; after the head only we change links.
  Ref* link = &At<ThreadState>(arena_, expected)->next;
  while (ReadRelaxed(*link) != self) link = &At<ThreadState>(arena_, ReadRelaxed(*link))->next;
  hot::WriteRelease(*link, next);
}

void StateRecycler::FreeRetired() {
  if (retired_.empty()) return;
  std::atomic_ref<uint64_t>(arena_->frees).fetch_add(1);
  for (ThreadState* state : retired_) {
    FreeRings(arena_, *state);
    if (blocks_ != nullptr) blocks_->Free(*state);
    for (Ref ref = state->chunks; ref != 0;) {
      auto& chunk = *At<Chunk>(arena_, ref);
      ref = chunk.next;
      // The chunk with the state is last in the list.
      FreeChunk(arena_, chunk);
    }
  }
  retired_.clear();
}

}  // namespace jtrace
