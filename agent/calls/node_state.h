// The collector's knowledge of a node, and the node's counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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

// The routine as in NodeUpdate.
inline uint32_t TraceRoutine(uint32_t routine) {
  return routine == signal_safe::kPrunedRoutine ? 0 : signal_safe::IdOf(routine);
}

// Which nodes of a long tree need not be looked at in this round. On the writer thread only.

// Programs with millions of call paths take most of them for a moment and never again. A thread's
// nodes are in a list in order of creation; it is divided into stretches of nodes that were made
// after one another. A stretch in which nothing changed is looked at again after two rounds, then
// after four, then always after eight.
struct QuietNodes {
  static constexpr uint32_t kStretch = 64;

  struct Stretch {
    signal_safe::Ref last;  // its last node
    uint32_t bytes;         // that it was counted as
    uint8_t quiet;          // looks in a row without a change, up to kMostQuiet
    uint8_t rest;           // rounds to leave out

    void Looked(bool changed) {
      constexpr uint8_t kMostQuiet = 3;
      quiet = changed ? 0 : std::min<uint8_t>(quiet + 1, kMostQuiet);
      rest = static_cast<uint8_t>((1 << quiet) - 1);
    }
  };
  std::vector<Stretch> stretches;  // of the list's begin
};

}  // namespace jtrace::calls
