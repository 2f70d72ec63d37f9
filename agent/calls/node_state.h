// What the collector knows of a node (Node::collected), and the node's counts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// Node::collected.
enum Collected : uint8_t {
  kUnseen = 0,
  kNamed = 1,      // a sample named it: to be reported
  kDefined = 2,    // reported in this file
  kEarlier = 3,    // reported in an earlier file: again if it changes
  kInGroup = 4,    // its number is an index of the forest, its baseline the counts added there
  kDropped = 5,    // its calls are in a [pruned] node; its number is the Ref of the node kept above
  kLeftGroup = 6,  // dropped: its calls and its number belong to the group
  // Not reported yet, because memory is short and it may soon be dropped. Its number is that of its
  // calls when it was last looked at.
  kYoung = 7,
  kAged = 8,  // the same, and it was there when nodes were last reported
};

inline bool IsDropped(const signal_safe::Node& node) {
  return node.collected == kDropped || node.collected == kLeftGroup;
}

inline bool IsUnreported(const signal_safe::Node& node) {
  return node.collected == kUnseen || node.collected == kYoung || node.collected == kAged;
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
  // The jitted count first: it can then only lag behind the sum.
  const uint64_t jitted = signal_safe::ReadRelaxed(node.jitted);
  return {jitted + signal_safe::ReadRelaxed(node.interpreted), jitted};
}

// Jitted calls among those since its baseline.
inline uint64_t JittedSinceBaseline(const signal_safe::Node& node, const Counts& counts) {
  const uint64_t calls = node.baseline_calls.Until(counts.calls);
  if (calls == counts.calls) return counts.jitted;
  return calls - std::min(calls, node.baseline_interpreted.Until(counts.calls - counts.jitted));
}

// Sets the baseline: `interpreted` of `calls`, but not more than the node has counted.
inline void SetBaseline(signal_safe::Node& node, uint64_t calls, uint64_t interpreted) {
  node.baseline_calls = calls;
  node.baseline_interpreted = std::min(calls, interpreted);
}

// Bytes of the words in `slots`, without the arena's one, which nodes without children have.
inline uint64_t SlotBytes(const signal_safe::Arena& arena, const signal_safe::Node& node) {
  const uint64_t slots = signal_safe::ReadRelaxed(node.slots);
  if (slots == 0 || slots == reinterpret_cast<uintptr_t>(&arena.no_slot)) return 0;
  return (signal_safe::ReadRelaxed(node.mask) & ~uint64_t{signal_safe::kMaskMoves}) +
         sizeof(uint64_t);
}
// Whether so many share a granule.
inline bool AreFew(uint64_t slot_bytes) { return slot_bytes < sizeof(signal_safe::Node); }

// Since the last collection.
inline bool HasChanged(const signal_safe::Node& node, uint64_t calls) {
  if (node.collected == kUnseen) return true;
  if (IsUnreported(node)) return static_cast<uint32_t>(calls) != node.number;
  return IsInGroup(node) ? node.baseline_calls.Until(calls) != 0 : node.reported.Until(calls) != 0;
}

// A [pruned] node that every thread has, and that has counted nothing yet.
inline bool IsUnused(const signal_safe::Node& node, const Counts& counts) {
  return node.routine == signal_safe::kPrunedRoutine && counts.calls == 0 &&
         node.collected == kUnseen;
}

// Its caller is a [pruned] node: only the number of its calls is known.
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

// The routine as in NodeUpdate.
inline uint32_t TraceRoutine(uint32_t routine) {
  return routine == signal_safe::kPrunedRoutine ? 0 : signal_safe::IdOf(routine);
}

}  // namespace jtrace::calls
