#include "agent/probes/node_recycler.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "agent/probes/node_state.h"

namespace jtrace {

using hot::At;
using hot::Node;
using hot::Ref;
using hot::ThreadState;

namespace {}  // namespace

void NodeRecycler::FreeRetired() {
  if (retired_.empty()) return;
  // Before a thread can use a node for another path.
  std::atomic_ref<uint64_t>(arena_->frees).fetch_add(1);
  std::vector<Retired> later;
  for (const Retired& retired : retired_) {
    ThreadState& state = *retired.state;
    if (hot::ReadAcquire(state.ended) != 0) continue;  // all its memory is released together
    // Until then the thread may look at its victims again.
    if (hot::ReadAcquire(state.victims) != 0) {
      later.push_back(retired);
      continue;
    }
    const Node& node = *At<Node>(arena_, retired.node);
    const uint64_t slot_bytes = SlotBytes(*arena_, node);
    if (!AreFew(slot_bytes)) FreeSlots(state, node, slot_bytes);
    if (blocks_offset_ != 0) FreeBlocks(state, node);
    FreeOne(state, retired.node, AreFew(slot_bytes) && slot_bytes != 0 ? node.slots : 0);
  }
  retired_ = std::move(later);
}

void NodeRecycler::FreeSlots(ThreadState& state, const Node& node, uint64_t bytes) {
  if (bytes > hot::kMostMask) {
    const auto table = static_cast<Ref>(*reinterpret_cast<const uint64_t*>(node.slots + bytes));
    if (table != 0) FreeMemory(state, table, TableBytes(table));
    bytes += sizeof(uint64_t);
  }
  FreeMemory(state, hot::RefOf(arena_, reinterpret_cast<const void*>(node.slots)), bytes);
}

// A set that got no counters, because an exception cut that off, stays.
void NodeRecycler::FreeBlocks(ThreadState& state, const Node& node) {
  const auto& head = *reinterpret_cast<const hot::BlockSet*>(reinterpret_cast<const char*>(&node) +
                                                             blocks_offset_);
  const auto bytes_of = [](const hot::BlockSet& set) {
    return (set.range >> 32) * sizeof(uint64_t);
  };
  for (Ref more = head.more; more != 0;) {
    const Ref ref = more;
    const auto& set = *At<hot::BlockSet>(arena_, ref);
    more = set.more;
    if (set.range != 0) FreeMemory(state, ref, sizeof set + bytes_of(set));
  }
  if (head.range >> 32 <= hot::kNodeBlocks) return;
  FreeMemory(state, hot::RefOf(arena_, reinterpret_cast<const void*>(head.counts)), bytes_of(head));
}

void NodeRecycler::TakeDroppedTables(ThreadState& state) {
  Ref table = std::atomic_ref<Ref>(state.dropped).exchange(0, std::memory_order_acquire);
  while (table != 0) {
    const Ref next = At<hot::ChildTable>(arena_, table)->count;
    FreeMemory(state, table, TableBytes(table));
    table = next;
  }
}

uint64_t NodeRecycler::TableBytes(Ref table) const {
  const uint64_t slots = uint64_t{At<hot::ChildTable>(arena_, table)->mask} + 1;
  return offsetof(hot::ChildTable, slots) + slots * sizeof(uint64_t);
}

// A table, or slots, become as many nodes as fit in.
void NodeRecycler::FreeMemory(ThreadState& state, Ref memory, uint64_t bytes) {
  constexpr uint64_t kGranule = 1ull << hot::kGranuleShift;
  const uint64_t whole = (bytes + kGranule - 1) / kGranule * kGranule;
  if (whole <= node_bytes_) return FreeOne(state, memory);  // was taken as a node
  for (uint64_t at = 0; at + node_bytes_ <= whole; at += node_bytes_) {
    FreeOne(state, memory + static_cast<Ref>(at >> hot::kGranuleShift));
  }
}

void NodeRecycler::FreeOne(ThreadState& state, Ref ref, uint64_t few_slots) {
  Node& node = *At<Node>(arena_, ref);
  const auto mask = static_cast<uint16_t>(node.mask & ~hot::kMaskMoves);
  std::memset(static_cast<void*>(&node), 0, node_bytes_);
  if (few_slots != 0) {
    node.slots = few_slots;
    node.mask = mask;
  }
  std::atomic_ref<Ref> freed(state.freed);
  Ref head = freed.load(std::memory_order_relaxed);
  do {
    node.next = head;
  } while (!freed.compare_exchange_weak(head, ref, std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace jtrace
