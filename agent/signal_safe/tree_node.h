// A node of a calling-context tree and the data that follows it: counts, times, metrics, counters
// of blocks. The layout is that of JTraceLayout.java.
//
// Only the thread that owns the tree writes it (JTraceProbe.java). The writer thread
// (agent/calls/trees/tree_collector.h) and signal handlers read it at any time, so they use only
// the functions of atomic_access.h for data that the thread changes. Fields marked "collector"
// belong to the writer thread; the probes never touch them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "agent/signal_safe/arena_ref.h"

namespace jtrace::signal_safe {

// A count of calls modulo 2^(8 * kBytes); differences below that are exact.
template <size_t kBytes>
class WrappingCount {
 public:
  WrappingCount& operator=(uint64_t count) {
    std::memcpy(bytes_, &count, sizeof bytes_);
    return *this;
  }
  // Returns how many calls `count` has more.
  uint64_t Until(uint64_t count) const {
    uint64_t low = 0;
    std::memcpy(&low, bytes_, sizeof bytes_);
    return (count - low) & ((1ull << 8 * sizeof bytes_) - 1);
  }

 private:
  uint8_t bytes_[kBytes];
};
// 2^40 calls of 1 ns take 18 minutes, 2^48 three days.
using Count40 = WrappingCount<5>;
using Count48 = WrappingCount<6>;

// A node of a calling-context tree: one call path. One cache line, because there are tens of
// millions. `slots` points to an array of words, whose length is a power of two. A word is a
// child's address or, if it is free, that of Arena::sink_node. The low bits of a child's routine id
// are its index; if that word was taken, the child is in one of the next ones up to a free word.
// The largest array is followed by the Ref of a ChildTable for more children. A node without
// children has Arena::no_slot; arrays of up to four words share a granule with those of other
// nodes. When the array grows, the thread stores `slots` first and the larger `mask` after it, so a
// reader never indexes past the old array.
struct Node {
  uint32_t routine;        // 0: a thread's root; with a call site above it: see IdOf
  Ref parent;              // 0: none
  uint64_t slots;          // address; see above
  uint64_t interpreted;    // calls that ran interpreted
  uint64_t jitted;         // calls that ran compiled
  Ref next;                // the thread's next node in order of creation, stored with release
  uint32_t number;         // collector: number in the trace, or among the groups' nodes
  Count48 baseline_calls;  // collector: calls of which earlier files, or the group's tree, know
  uint16_t call_site;      // sites=on: kHasCallSite | number of where its calls are; 0: unknown
  uint16_t mask;           // of a child's offset in `slots`: their bytes less one word's
  uint16_t depth;          // 0: a thread's root
  uint8_t flags;  // kNode… below, set by the owning thread; kNodeCutOff is stored with release
  uint8_t collected;             // collector: what it knows of the node (calls::NodeState)
  Count40 reported;              // collector: calls as last reported
  Count40 baseline_interpreted;  // collector: as baseline_calls
};
static_assert(sizeof(Node) == 64 && offsetof(Node, call_site) == 46 && offsetof(Node, mask) == 48);
static_assert(offsetof(Node, interpreted) == 16 && offsetof(Node, jitted) == 24);

// Set in Node::mask while `slots` changes: `slots` may be newer than the rest of the mask.
inline constexpr uint16_t kMaskMoves = 1;
// Node::mask of a node with the most slots.
inline constexpr uint32_t kMaxMask = 8191 * sizeof(uint64_t);

// Node::flags.
inline constexpr uint8_t kNodeCutOff = 1;  // cut off from the tree for good
inline constexpr uint8_t kNodeOnPath = 2;  // above the current node, during a prune
inline constexpr uint8_t kNodeFolds = 4;   // calls from here are counted at a node further up

// Children of a node with the most slots: open addressing, a power of two of slots that hold
// `Ref << 32 | routine`, 0 is free.
struct ChildTable {
  uint32_t mask;
  uint32_t count;     // of slots that are not 0; of a dropped table: Ref of the next one
  uint64_t slots[1];  // mask + 1 of them
};
static_assert(offsetof(ChildTable, slots) == 8);

// Follows each node if there is a clock, in the clock's units (agent/calls/clocks/clock_scale.h).
struct NodeTimes {
  uint64_t base;           // time in this node, callees not included
  uint64_t base_start;     // `base` when the current activation began
  uint64_t least;          // kMaxTicks - the least base of an ended activation; 0: none ended
  uint64_t greatest;       // the greatest base of an ended activation
  uint64_t off;            // clock=cpu: time off the processors, callees not included
  uint64_t reported;       // collector: base + off as last reported
  uint64_t baseline_base;  // collector: known to earlier files, or the group's tree
  uint64_t baseline_off;   // collector: the same for `off`
};
static_assert(sizeof(NodeTimes) == 64);
inline constexpr uint64_t kMaxTicks = INT64_MAX;

// Follows each node, after its times, if metrics are charged to call paths: the thread's
// count of each while it was in this node, callees not included. Counts wrap around.
inline constexpr uint32_t kMaxPathMetrics = 7;
struct NodeMetrics {
  uint64_t base[kMaxPathMetrics];
  uint64_t reported;                   // collector: a sum that shows whether one has changed
  uint64_t baseline[kMaxPathMetrics];  // collector: known to earlier files, or the group's tree
  uint64_t reserved;
};
static_assert(sizeof(NodeMetrics) == 128);

// The counters of a method's blocks on one call path, in a row, for one version of its code.
struct BlockSet {
  uint64_t range;   // their number << 32 | id of the first; 0: none yet. Stored last, with release
  uint64_t counts;  // address of the first
  Ref more;         // BlockSet of other code of the method: a list; stored with release
  uint32_t out_of_memory;  // in the first of the list: 1: there was no memory for a counter
};
static_assert(sizeof(BlockSet) == 24);

// Follows each node, after its times and metrics, if blocks are counted by call path
// (blocks=paths).
inline constexpr uint32_t kNodeBlocks = 4;
struct NodeBlocks {
  BlockSet set;
  uint64_t reported;          // collector: the sum of all counts as last reported
  uint64_t own[kNodeBlocks];  // the counters of `set`, if they are no more than these
};
static_assert(sizeof(NodeBlocks) == 64);

// Follows each node, after all of these, if nodes are tested when their activations end
// (pruneexit=), in the clock's units. Only the owning thread reads it (JTraceExits.java).
struct NodeCum {
  uint64_t cum;      // time of ended activations, callees included
  uint64_t entered;  // when the current activation began
  uint64_t reserved[6];
};
static_assert(sizeof(NodeCum) == 64);

}  // namespace jtrace::signal_safe
