// The counts of call trees at one time, or the difference between two times, as a calling-context
// tree. It sums the trees of several threads by call path.
//
// Not thread-safe. Copies the values of the probes' trees, so it outlives them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "agent/hot/layout.h"

namespace jtrace::metrics {

// The counts of a call path, callees not included: its calls, then the metrics that the probes
// charged to it, by place, and its processor time with clock=cpu.
inline constexpr size_t kCallsPlace = 0;
inline constexpr size_t kCpuPlace = 1 + hot::kPathMetrics;
inline constexpr size_t kPathPlaces = kCpuPlace + 1;
using PathValues = std::array<int64_t, kPathPlaces>;
using ReadNode = absl::FunctionRef<PathValues(const hot::Node&)>;

using Routines = absl::flat_hash_set<uint32_t>;

// For a set of routines that is treated as one: an activation of any of them below another one is
// nested.
struct MethodTotals {
  int64_t calls = 0;
  int64_t outermost_calls = 0;  // that were not nested
  int64_t base = 0;             // of one metric, callees not included
  int64_t cum = 0;              // callees included, nested activations once
};

// A call path and its value of one metric.
struct PathShare {
  int64_t value = 0;
  std::vector<uint32_t> routines;  // the innermost last; empty: no method with probes
};

class TreeSnapshot {
 public:
  // About 40 bytes a call path, and 8 more for each metric that is charged.
  static constexpr size_t kMaxNodes = 1 << 20;

  explicit TreeSnapshot(size_t max_nodes = kMaxNodes) : max_nodes_(max_nodes) {}

  // Adds `sign` times the counts of the thread's tree. The thread may run meanwhile.
  void Add(const hot::Arena* arena, const hot::ThreadState& state, int64_t sign, ReadNode read);
  // The same for a single node.
  void AddNode(const hot::Arena* arena, const hot::Node& node, int64_t sign, ReadNode read);
  void Add(const TreeSnapshot& other);

  // Only the counts in `roots` and below, by paths that begin at the outermost of these.
  TreeSnapshot Below(const Routines& roots) const;

  MethodTotals Totals(const Routines& methods, size_t place) const;
  // The call paths with the greatest values, callees not included, greatest first; at most `count`.
  // `methods`: only paths that end in one of these; null: any.
  std::vector<PathShare> Top(size_t place, size_t count, const Routines* methods) const;

  // Replaces each value at the place.
  void Convert(size_t place, absl::FunctionRef<int64_t(int64_t)> convert);

  // There were too many call paths: nothing is known any more, and what is added is left out.
  bool is_full() const { return is_full_; }
  bool empty() const { return nodes_.size() == 1; }

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t routine = 0;
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  // Nobody gets a part of it: it takes no memory and no time from here on.
  void BecomeFull();
  // kNowhere if the tree is full.
  uint32_t Child(uint32_t parent, uint32_t routine);
  void AddValues(uint32_t index, const PathValues& values, int64_t sign);
  PathValues ValuesOf(size_t index) const;
  int64_t ValueOf(size_t index, size_t place) const {
    return index < values_[place].size() ? values_[place][index] : 0;
  }
  uint32_t PlaceOf(const hot::Arena* arena, const hot::Node& node);

  size_t max_nodes_;
  bool is_full_ = false;
  std::vector<Node> nodes_ = {Node{}};  // parents before children; the first one is the root
  // By place and node: up to the last one that has a value.
  std::array<std::vector<int64_t>, kPathPlaces> values_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> children_;  // (parent, routine)
};

}  // namespace jtrace::metrics
