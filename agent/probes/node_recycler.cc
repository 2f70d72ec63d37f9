#include "agent/probes/node_recycler.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace jtrace {

using hot::At;
using hot::Node;
using hot::Ref;
using hot::ThreadState;

void NodeRecycler::FreeRetired() {
  std::vector<Retired> later;
  for (const Retired& retired : retired_) {
    ThreadState& state = *retired.state;
    if (hot::ReadAcquire(state.ended) != 0) continue;  // goes with all its memory
    // Until then the thread may look at its victims again.
    if (hot::ReadAcquire(state.victims) != 0) {
      later.push_back(retired);
      continue;
    }
    const Ref table = At<Node>(arena_, retired.node)->table;
    if (table != 0) FreeTable(state, table);
    FreeOne(state, retired.node);
  }
  retired_ = std::move(later);
}

void NodeRecycler::TakeDroppedTables(ThreadState& state) {
  Ref table = std::atomic_ref<Ref>(state.dropped).exchange(0, std::memory_order_acquire);
  while (table != 0) {
    const Ref next = At<hot::ChildTable>(arena_, table)->count;
    FreeTable(state, table);
    table = next;
  }
}

// A table becomes as many nodes as fit in.
void NodeRecycler::FreeTable(ThreadState& state, Ref table) {
  constexpr uint64_t kGranule = 1ull << hot::kGranuleShift;
  const uint64_t slots = uint64_t{At<hot::ChildTable>(arena_, table)->mask} + 1;
  const uint64_t bytes = offsetof(hot::ChildTable, slots) + slots * sizeof(uint64_t);
  const uint64_t whole = (bytes + kGranule - 1) / kGranule * kGranule;
  if (whole <= node_bytes_) return FreeOne(state, table);  // was taken as a node
  for (uint64_t at = 0; at + node_bytes_ <= whole; at += node_bytes_) {
    FreeOne(state, table + static_cast<Ref>(at >> hot::kGranuleShift));
  }
}

void NodeRecycler::FreeOne(ThreadState& state, Ref ref) {
  Node& node = *At<Node>(arena_, ref);
  std::memset(static_cast<void*>(&node), 0, node_bytes_);
  std::atomic_ref<Ref> freed(state.freed);
  Ref head = freed.load(std::memory_order_relaxed);
  do {
    node.next = head;
  } while (!freed.compare_exchange_weak(head, ref, std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace jtrace
