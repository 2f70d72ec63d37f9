// A copy of call trees' counts, summed by call path: the totals of methods, and the greatest paths.
// On the writer thread, which may read the probes' trees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::metrics {

// The counts of a call path, callees not included: its calls, then the metrics that the probes
// charged to it, by column, and its processor time with clock=cpu.
inline constexpr size_t kCallsColumn = 0;
inline constexpr size_t kCpuColumn = 1 + signal_safe::kMaxPathMetrics;
inline constexpr size_t kPathColumns = kCpuColumn + 1;
using PathValues = std::array<int64_t, kPathColumns>;
using ReadNode = absl::FunctionRef<PathValues(const signal_safe::Node&)>;

using Routines = absl::flat_hash_set<uint32_t>;

// The totals of a set of methods that is treated as one: an activation of any of them below another
// one is nested.
struct MethodTotals {
  int64_t calls = 0;
  int64_t outermost_calls = 0;  // those that were not nested
  int64_t base = 0;             // of one metric, callees not included
  int64_t cum = 0;              // callees included, nested activations once
};

// A call path and its value of one metric.
struct PathShare {
  int64_t value = 0;
  std::vector<uint32_t> routines;  // the innermost last; empty: no method with probes
};

// The counts of call trees at one time, or the difference between two times, as a calling-context
// tree. It sums the trees of several threads by call path. It copies the values of the probes'
// trees, so it outlives them.
class TreeSnapshot {
 public:
  // About 40 bytes a call path, and 8 more for each metric that is charged.
  static constexpr size_t kMaxNodes = 1 << 20;

  explicit TreeSnapshot(size_t max_nodes = kMaxNodes) : max_nodes_(max_nodes) {}

  // Adds `sign` times the counts of the thread's tree. The thread may run meanwhile.
  void Add(const signal_safe::Arena* arena, const signal_safe::ThreadState& state, int64_t sign,
           ReadNode read);
  // The same for a single node.
  void AddNode(const signal_safe::Arena* arena, const signal_safe::Node& node, int64_t sign,
               ReadNode read);
  void Add(const TreeSnapshot& other);

  // Returns only the counts in `roots` and below, by paths that begin at the outermost of these.
  TreeSnapshot Below(const Routines& roots) const;

  MethodTotals Totals(const Routines& methods, size_t column) const;
  // Returns the at most `count` call paths with the greatest values, callees not included, greatest
  // first. `methods`: only paths that end in one of these; null: any.
  std::vector<PathShare> Top(size_t column, size_t count, const Routines* methods) const;

  // Replaces each value of the column.
  void Convert(size_t column, absl::FunctionRef<int64_t(int64_t)> convert);

  // Returns whether there were too many call paths: the snapshot is then empty and stays so.
  bool is_full() const { return is_full_; }
  bool empty() const { return nodes_.size() == 1; }

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t routine = 0;
  };
  static constexpr uint32_t kNoNode = UINT32_MAX;

  // Drops all counts, because a part of them would be wrong, and their memory.
  void BecomeFull();
  // Returns the child's index, added if it is new; kNoNode if the tree is full.
  uint32_t Child(uint32_t parent, uint32_t routine);
  void AddValues(uint32_t index, const PathValues& values, int64_t sign);
  PathValues ValuesOf(size_t index) const;
  int64_t ValueOf(size_t index, size_t column) const {
    return index < values_[column].size() ? values_[column][index] : 0;
  }
  uint32_t IndexOf(const signal_safe::Arena* arena, const signal_safe::Node& node);

  size_t max_nodes_;
  bool is_full_ = false;
  std::vector<Node> nodes_ = {Node{}};  // parents before children; the first one is the root
  // By column and node; each column ends at the last node that has a value.
  std::array<std::vector<int64_t>, kPathColumns> values_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> children_;  // (parent, routine)
};

}  // namespace jtrace::metrics
