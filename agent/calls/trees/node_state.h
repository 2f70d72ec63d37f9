// What the collector knows of a node (Node::collected), and the node's counts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// The collector's state of a node, in Node::collected.
enum NodeState : uint8_t {
  kUnseen = 0,
  kSampled = 1,    // a sample named it; not reported yet
  kDefined = 2,    // reported in this file
  kEarlier = 3,    // reported in an earlier file; reported again when it changes
  kInGroup = 4,    // number: its index in GroupTreeStore; baseline: the counts added there
  kDropped = 5,    // counted below a [pruned] node; number: Ref of the kept node above
  kLeftGroup = 6,  // dropped; number and baseline: as for kInGroup
  // Seen but not reported: memory is short, and the node may soon be dropped. Its number is the
  // count of its calls when it was last read.
  kDeferred = 7,
  kDeferredTwice = 8,  // the same; the next Collect with `reports_deferred` reports it
};

inline bool IsDropped(const signal_safe::Node& node) {
  return node.collected == kDropped || node.collected == kLeftGroup;
}

inline bool IsUnreported(const signal_safe::Node& node) {
  return node.collected == kUnseen || node.collected == kDeferred ||
         node.collected == kDeferredTwice;
}

inline bool IsInGroup(const signal_safe::Node& node) {
  return node.collected == kInGroup || node.collected == kLeftGroup;
}

// The node's calls, and the jitted ones among them.
struct Counts {
  uint64_t calls;
  uint64_t jitted;
};

inline Counts ReadCounts(const signal_safe::Node& node) {
  const uint64_t jitted = signal_safe::ReadRelaxed(node.jitted);
  return {jitted + signal_safe::ReadRelaxed(node.interpreted), jitted};
}

// Returns how many of the node's calls since its baseline ran compiled.
inline uint64_t JittedSinceBaseline(const signal_safe::Node& node, const Counts& counts) {
  const uint64_t calls = node.baseline_calls.Until(counts.calls);
  if (calls == counts.calls) return counts.jitted;
  return calls - std::min(calls, node.baseline_interpreted.Until(counts.calls - counts.jitted));
}

// Sets the baseline to `calls`, of which `interpreted` ran interpreted (at most `calls`).
inline void SetBaseline(signal_safe::Node& node, uint64_t calls, uint64_t interpreted) {
  node.baseline_calls = calls;
  node.baseline_interpreted = std::min(calls, interpreted);
}

// Returns the bytes of the node's slots; 0 if it has no children, because Arena::no_slot is not its
// own.
inline uint64_t SlotBytes(const signal_safe::Arena& arena, const signal_safe::Node& node) {
  const uint64_t slots = signal_safe::ReadRelaxed(node.slots);
  if (slots == 0 || slots == reinterpret_cast<uintptr_t>(&arena.no_slot)) return 0;
  return (signal_safe::ReadRelaxed(node.mask) & ~uint64_t{signal_safe::kMaskMoves}) +
         sizeof(uint64_t);
}
// Whether slots of so many bytes share a granule with those of other nodes.
inline bool SharesGranule(uint64_t slot_bytes) { return slot_bytes < sizeof(signal_safe::Node); }

// Whether the node has counted calls since it was last read, reported or added to its group.
inline bool HasChanged(const signal_safe::Node& node, uint64_t calls) {
  if (node.collected == kUnseen) return true;
  if (IsUnreported(node)) return static_cast<uint32_t>(calls) != node.number;
  return IsInGroup(node) ? node.baseline_calls.Until(calls) != 0 : node.reported.Until(calls) != 0;
}

// Whether it is a [pruned] node that has counted nothing yet: it is not reported.
inline bool IsUnused(const signal_safe::Node& node, const Counts& counts) {
  return node.routine == signal_safe::kPrunedRoutine && counts.calls == 0 &&
         node.collected == kUnseen;
}

// Whether its caller is a [pruned] node: then it sums up calls from many paths.
inline bool IsBelowPruned(const signal_safe::Arena* arena, const signal_safe::Node& node) {
  return signal_safe::At<signal_safe::Node>(arena, node.parent)->routine ==
         signal_safe::kPrunedRoutine;
}

// Calls visit(node) for the nodes of a thread, parents first, without its root.
template <typename Visit>
void ForEachNode(const signal_safe::Arena* arena, const signal_safe::ThreadState& state,
                 Visit visit) {
  using signal_safe::Node;
  signal_safe::Ref ref = state.root;
  while ((ref = signal_safe::ReadAcquire(signal_safe::At<Node>(arena, ref)->next)) != 0) {
    visit(*signal_safe::At<Node>(arena, ref));
  }
}

// Returns Node::routine as NodeUpdate has it: without a call site, and 0 for a [pruned] node.
inline uint32_t TraceRoutine(uint32_t routine) {
  return routine == signal_safe::kPrunedRoutine ? 0 : signal_safe::IdOf(routine);
}

}  // namespace jtrace::calls
