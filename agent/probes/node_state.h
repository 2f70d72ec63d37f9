// How far the collector knows a node, and what a node has counted.
#ifndef JTRACE_AGENT_PROBES_NODE_STATE_H_
#define JTRACE_AGENT_PROBES_NODE_STATE_H_

#include <algorithm>
#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace {

// Node::collected.
enum Collected : uint8_t {
  kUnseen = 0,
  kNamed = 1,      // a sample named it: to be told
  kDefined = 2,    // told in this file
  kEarlier = 3,    // told in an earlier file: told again if it changes
  kInGroup = 4,    // its number is an index of the forest, its baseline what was added there
  kGivenUp = 5,    // its calls are in a [pruned] node
  kLeftGroup = 6,  // given up: its calls, as its number, belong to the group
  // Not told yet, because memory is short and it may soon be given up. Its number is that of its
  // calls when it was last looked at.
  kYoung = 7,
  kAged = 8,  // the same, and it was there when nodes were last told
};

inline bool IsGivenUp(const hot::Node& node) {
  return node.collected == kGivenUp || node.collected == kLeftGroup;
}

inline bool IsUntold(const hot::Node& node) {
  return node.collected == kUnseen || node.collected == kYoung || node.collected == kAged;
}

inline bool IsInGroup(const hot::Node& node) {
  return node.collected == kInGroup || node.collected == kLeftGroup;
}

struct Counts {
  uint64_t calls;
  uint64_t jitted;
};

inline Counts ReadCounts(const hot::Node& node) {
  // The jitted count first: it can only be behind the sum then.
  const uint64_t jitted = hot::ReadRelaxed(node.jitted);
  return {jitted + hot::ReadRelaxed(node.interpreted), jitted};
}

// Of the calls since its baseline.
inline uint64_t JittedSinceBaseline(const hot::Node& node, const Counts& counts) {
  if (node.baseline_calls == 0) return counts.jitted;
  const uint64_t calls = counts.calls - node.baseline_calls;
  return calls - std::min(calls, node.baseline_interpreted.Until(counts.calls - counts.jitted));
}

// `interpreted` of its `calls`; not more than it has counted.
inline void SetBaseline(hot::Node& node, uint64_t calls, uint64_t interpreted) {
  node.baseline_calls = calls;
  node.baseline_interpreted = std::min(calls, interpreted);
}

// Of the words in `slots`; not of the arena's one, which nodes without children have.
inline uint64_t SlotBytes(const hot::Node& node) {
  const uint64_t mask = hot::ReadRelaxed(node.mask) & ~uint64_t{hot::kMaskMoves};
  return mask == 0 ? 0 : mask + sizeof(uint64_t);
}

// As NodeUpdate has it.
inline uint32_t TraceRoutine(uint32_t routine) {
  return routine == hot::kPrunedRoutine ? 0 : routine;
}

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_NODE_STATE_H_
