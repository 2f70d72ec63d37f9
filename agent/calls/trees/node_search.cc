#include "agent/calls/trees/node_search.h"

#include <algorithm>
#include <thread>

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {
namespace {

using signal_safe::Arena;
using signal_safe::At;
using signal_safe::Node;
using signal_safe::ReadAcquire;
using signal_safe::ReadRelaxed;
using signal_safe::Ref;

struct Slots {
  uint64_t address;
  uint16_t mask;

  uint64_t word(uint32_t offset) const {
    return ReadAcquire(*reinterpret_cast<const uint64_t*>(address + offset));
  }
};

// Reads the mask first: slots that are newer than it are larger, so no offset lies outside of them.
Slots ReadSlots(const Node& node) {
  const uint16_t mask = ReadAcquire(node.mask);
  return {ReadAcquire(node.slots), mask};
}

Ref FindInTable(const Arena* arena, Ref table_ref, uint32_t routine) {
  constexpr uint32_t kHash = 0x9E3779B1;
  if (table_ref == 0) return 0;
  const auto* table = At<signal_safe::ChildTable>(arena, table_ref);
  uint32_t i = routine * kHash >> 8;
  for (uint32_t probes = 0; probes <= table->mask; ++probes, ++i) {
    const uint64_t slot = ReadRelaxed(table->slots[i & table->mask]);
    if (slot == 0) return 0;
    if (static_cast<uint32_t>(slot) == routine) return static_cast<Ref>(slot >> 32);
  }
  return 0;
}

Ref FindIn(const Arena* arena, const Slots& slots, uint32_t mask, uint32_t routine) {
  // The same as JTraceSlots.offset.
  const uint32_t call_site = routine >> 31 != 0 ? routine >> signal_safe::kCallSiteShift : 0;
  uint32_t offset = (routine + call_site) * sizeof(uint64_t) & mask;
  const auto child_at = [&](uint32_t slot) -> Ref {
    const uint64_t at = slots.word(slot) - reinterpret_cast<uintptr_t>(arena);
    // Slots that were just outgrown may begin with a list's link, which is not a node's address.
    const bool is_node =
        at < ReadRelaxed(arena->next) && at % (1 << signal_safe::kGranuleShift) == 0;
    const auto child = static_cast<Ref>(at >> signal_safe::kGranuleShift);
    return is_node && At<Node>(arena, child)->routine == routine ? child : 0;
  };
  if (const Ref child = child_at(routine * sizeof(uint64_t) & mask); child != 0) return child;
  for (uint32_t seen = 0; seen <= mask; seen += sizeof(uint64_t)) {
    const uint64_t at = slots.word(offset) - reinterpret_cast<uintptr_t>(arena);
    if (at == offsetof(Arena, sink_node)) break;
    if (const Ref child = child_at(offset); child != 0) return child;
    offset = (offset + sizeof(uint64_t)) & mask;
  }
  if (mask != signal_safe::kMaxMask) return 0;
  const auto table = static_cast<Ref>(slots.word(mask + sizeof(uint64_t)));
  return FindInTable(arena, table, routine);
}

// Searches the list of all nodes of the thread: slow, but independent of the slots.
Ref FindInList(const Arena* arena, const Node& parent, uint32_t routine) {
  signal_safe::RootPath root(arena, parent);
  while (root.Up()) continue;
  const Ref parent_ref = signal_safe::RefOf(arena, &parent);
  for (Ref ref = root.IsAtRoot() ? ReadAcquire(root->next) : 0; ref != 0;) {
    const Node& node = *At<Node>(arena, ref);
    if (node.routine == routine && node.parent == parent_ref &&
        (ReadAcquire(node.flags) & signal_safe::kNodeCutOff) == 0) {
      return ref;
    }
    ref = ReadAcquire(node.next);
  }
  return 0;
}

// Returns the path from the root, which is left out, to the thread's current node.
std::vector<Ref> CurrentPath(const signal_safe::Arena* arena,
                             const signal_safe::ThreadState& state) {
  std::vector<Ref> path;
  const auto* node = reinterpret_cast<const Node*>(signal_safe::ReadRelaxed(state.current));
  if (node == nullptr || node == &arena->sink_node) return path;
  signal_safe::RootPath at(arena, *node);
  do {
    if (!at.IsAtRoot()) path.push_back(signal_safe::RefOf(arena, &*at));
  } while (at.Up());
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

Ref FindChild(const Arena* arena, const Node& node, uint32_t routine) {
  // Enough, unless the owning thread is preempted while it moves its slots.
  constexpr int kTries = 1000;
  for (int tries = 0; tries < kTries; ++tries) {
    const Slots slots = ReadSlots(node);
    if (slots.address == 0) return 0;
    const bool moves = (slots.mask & signal_safe::kMaskMoves) != 0;
    const Ref child = FindIn(arena, slots, slots.mask & ~signal_safe::kMaskMoves, routine);
    const Slots now = ReadSlots(node);
    // Slots that were outgrown may belong to another node by now, if they share a granule.
    if (child != 0 && now.address == slots.address) return child;
    if (child == 0 && !moves && now.address == slots.address && now.mask == slots.mask) return 0;
    if (moves) std::this_thread::yield();
  }
  return FindInList(arena, node, routine);
}

std::vector<Ref> FindOpenNodes(const signal_safe::Arena* arena,
                               const signal_safe::ThreadState& state,
                               absl::Span<const uint32_t> routines) {
  std::vector<Ref> nodes(routines.size());
  const std::vector<Ref> path = CurrentPath(arena, state);
  // Between two activations there may be a call that leaves the scope (boundary=on).
  constexpr size_t kMaxBetween = 2;
  Ref above = state.root;
  size_t depth = 0;  // nodes of the path down to `above`; path.size() + 1: off the path
  for (size_t i = 0; i < routines.size(); ++i) {
    const auto is_next = [&](Ref ref) { return At<Node>(arena, ref)->routine == routines[i]; };
    const auto from = path.begin() + static_cast<ptrdiff_t>(std::min(depth, path.size()));
    const auto to = from + std::min<ptrdiff_t>(path.end() - from, kMaxBetween);
    const auto next = std::find_if(from, to, is_next);
    const bool is_on_path = depth <= path.size() && next != to;
    const bool is_direct = is_on_path && next == from;
    const Ref child = is_direct ? *next : FindChild(arena, *At<Node>(arena, above), routines[i]);
    if (child != 0 && is_next(child)) {
      nodes[i] = above = child;
      depth = is_direct ? depth + 1 : path.size() + 1;
    } else if (is_on_path) {
      nodes[i] = above = *next;
      depth = static_cast<size_t>(next - path.begin()) + 1;
    }
  }
  return nodes;
}

}  // namespace jtrace::calls
