#include "agent/calls/trees/memory_recyclers.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/calls/trees/basic_block_counters.h"
#include "agent/calls/trees/log_rings.h"
#include "agent/calls/trees/node_state.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::Chunk;
using signal_safe::Node;
using signal_safe::ReadRelaxed;
using signal_safe::Ref;
using signal_safe::RefOf;
using signal_safe::ThreadState;

void FreeChunk(signal_safe::Arena* arena, signal_safe::Chunk& chunk) {
  constexpr uint64_t kGiveBackBytes = 1 << 20;
  const uint32_t size_class = chunk.size_class;
  const uint64_t bytes = signal_safe::ChunkBytes(size_class);
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
  std::atomic_ref<uint64_t> free(arena->free[size_class]);
  uint64_t head = free.load(std::memory_order_relaxed);
  do {
    signal_safe::WriteRelaxed(chunk.next, static_cast<signal_safe::Ref>(head));
  } while (!free.compare_exchange_weak(
      head, (head & ~0xFFFFFFFFull) | signal_safe::RefOf(arena, &chunk)));
}

void NodeRecycler::FreeRetired() {
  if (retired_.empty()) return;
  // Before a thread can use a node for another path.
  std::atomic_ref<uint64_t>(arena_->frees).fetch_add(1);
  std::vector<Retired> later;
  for (const Retired& retired : retired_) {
    ThreadState& state = *retired.state;
    if (signal_safe::ReadAcquire(state.ended) != 0)
      continue;  // all its memory is released together
    // Until `victims` is 0 the thread may still read the nodes on that list.
    if (signal_safe::ReadAcquire(state.victims) != 0) {
      later.push_back(retired);
      continue;
    }
    const Node& node = *At<Node>(arena_, retired.node);
    const uint64_t slot_bytes = SlotBytes(*arena_, node);
    if (!SharesGranule(slot_bytes)) FreeSlots(state, node, slot_bytes);
    if (blocks_offset_ != 0) FreeBlocks(state, node);
    FreeOne(state, retired.node, SharesGranule(slot_bytes) && slot_bytes != 0 ? node.slots : 0);
  }
  retired_ = std::move(later);
}

void NodeRecycler::FreeSlots(ThreadState& state, const Node& node, uint64_t bytes) {
  if (bytes > signal_safe::kMaxMask) {
    const auto table = static_cast<Ref>(*reinterpret_cast<const uint64_t*>(node.slots + bytes));
    if (table != 0) FreeMemory(state, table, TableBytes(table));
    bytes += sizeof(uint64_t);
  }
  FreeMemory(state, signal_safe::RefOf(arena_, reinterpret_cast<const void*>(node.slots)), bytes);
}

// A set without counters, because an exception ended the probe that made it, is not freed.
void NodeRecycler::FreeBlocks(ThreadState& state, const Node& node) {
  const auto& head = *reinterpret_cast<const signal_safe::BlockSet*>(
      reinterpret_cast<const char*>(&node) + blocks_offset_);
  const auto bytes_of = [](const signal_safe::BlockSet& set) {
    return (set.range >> 32) * sizeof(uint64_t);
  };
  for (Ref more = head.more; more != 0;) {
    const Ref ref = more;
    const auto& set = *At<signal_safe::BlockSet>(arena_, ref);
    more = set.more;
    if (set.range != 0) FreeMemory(state, ref, sizeof set + bytes_of(set));
  }
  if (head.range >> 32 <= signal_safe::kNodeBlocks) return;
  FreeMemory(state, signal_safe::RefOf(arena_, reinterpret_cast<const void*>(head.counts)),
             bytes_of(head));
}

void NodeRecycler::FreeDroppedTables(ThreadState& state) {
  Ref table = std::atomic_ref<Ref>(state.dropped).exchange(0, std::memory_order_acquire);
  while (table != 0) {
    const Ref next = At<signal_safe::ChildTable>(arena_, table)->count;
    FreeMemory(state, table, TableBytes(table));
    table = next;
  }
}

uint64_t NodeRecycler::TableBytes(Ref table) const {
  const uint64_t slots = uint64_t{At<signal_safe::ChildTable>(arena_, table)->mask} + 1;
  return offsetof(signal_safe::ChildTable, slots) + slots * sizeof(uint64_t);
}

// Turns a table, or slots, into as many free nodes as fit in.
void NodeRecycler::FreeMemory(ThreadState& state, Ref memory, uint64_t bytes) {
  constexpr uint64_t kGranule = 1ull << signal_safe::kGranuleShift;
  const uint64_t whole = (bytes + kGranule - 1) / kGranule * kGranule;
  if (whole <= node_bytes_) return FreeOne(state, memory);  // was allocated like a node
  for (uint64_t at = 0; at + node_bytes_ <= whole; at += node_bytes_) {
    FreeOne(state, memory + static_cast<Ref>(at >> signal_safe::kGranuleShift));
  }
}

void NodeRecycler::FreeOne(ThreadState& state, Ref ref, uint64_t small_slots) {
  Node& node = *At<Node>(arena_, ref);
  const auto mask = static_cast<uint16_t>(node.mask & ~signal_safe::kMaskMoves);
  std::memset(static_cast<void*>(&node), 0, node_bytes_);
  if (small_slots != 0) {
    node.slots = small_slots;
    node.mask = mask;
  }
  std::atomic_ref<Ref> freed(state.freed);
  Ref head = freed.load(std::memory_order_relaxed);
  do {
    node.next = head;
  } while (!freed.compare_exchange_weak(head, ref, std::memory_order_release,
                                        std::memory_order_relaxed));
}

void StateRecycler::RemoveEnded(absl::FunctionRef<void(ThreadState&)> visit) {
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
    for (Ref ref = signal_safe::ReadAcquire(bucket); ref != 0;) {
      auto& state = *At<ThreadState>(arena_, ref);
      visit(state);
      ref = ReadRelaxed(state.next);
    }
  }
}

void StateRecycler::Unlink(ThreadState& state) {
  Ref& bucket = arena_->buckets[state.java_tid % signal_safe::kBucketCount];
  const Ref self = RefOf(arena_, &state);
  const Ref next = ReadRelaxed(state.next);
  Ref expected = self;
  if (std::atomic_ref<Ref>(bucket).compare_exchange_strong(expected, next)) return;
  // Newer states precede it in the bucket. After the head only this thread changes links.
  Ref* link = &At<ThreadState>(arena_, expected)->next;
  while (ReadRelaxed(*link) != self) link = &At<ThreadState>(arena_, ReadRelaxed(*link))->next;
  signal_safe::WriteRelease(*link, next);
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
      // The state is in the list's last chunk, so it is valid until then.
      FreeChunk(arena_, chunk);
    }
  }
  retired_.clear();
}

}  // namespace jtrace::calls
