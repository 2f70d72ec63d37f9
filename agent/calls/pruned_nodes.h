// The sums that remain of tree nodes that were dropped (pruned nodes, S3.14).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/calls/path_blocks.h"
#include "agent/calls/tree_values.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// Below the nearest node that was kept, their keeper, is a [pruned] node that no thread knows of,
// and below that one sum for each routine. So counts by routine stay exact whatever is dropped. On
// the writer thread only.
class PrunedNodes {
 public:
  // The calls of one routine below one keeper, totals of the file.
  struct Sum {
    uint32_t number = 0;  // in the trace
    bool is_new = true;   // not reported in this file
    bool changed = false;
    bool has_extremes = true;  // the least and the greatest are those of activations
    uint64_t calls = 0;
    uint64_t jitted = 0;
    NodeValues values = {};
    PathCounts blocks = {};  // blocks=paths

    // With bounds that hold where the extremes are not known.
    NodeValues ReportedValues() const;
  };
  struct Below {
    uint32_t number = 0;  // of the [pruned] node, given by the reporting code; 0: not reported
    bool is_new = true;   // in this file
    absl::flat_hash_map<uint32_t, Sum> sums;  // by routine
    std::vector<uint32_t> changed;            // routines, since the last ForEachChanged
  };

  // `max_bytes`: the limit for the sums.
  explicit PrunedNodes(uint64_t max_bytes) : max_sums_(max_bytes / kBytesPerSum) {}

  // Sums should be added below the threads' roots from here on, where there are fewer.
  bool IsFull() const { return sum_count_ >= max_sums_; }
  bool empty() const { return by_keeper_.empty(); }
  uint64_t memory_bytes() const { return sum_count_ * kBytesPerSum; }

  // Adds the counts of a node of `routine` in this file. Numbers are taken from `last_number`.
  void Add(signal_safe::Ref keeper, uint32_t routine, const Sum& counted, uint32_t& last_number);
  // `keeper` is dropped as well. Calls `was_reported` with the numbers that the file knows.
  void MoveUp(signal_safe::Ref keeper, signal_safe::Ref next_keeper, uint32_t& last_number,
              absl::FunctionRef<void(uint32_t number)> was_reported);
  // Its thread has ended.
  void Erase(signal_safe::Ref keeper);

  // Calls `visit` for each keeper below which something changed since the last time; data passed to
  // it counts as reported afterwards.
  void ForEachChanged(absl::FunctionRef<void(signal_safe::Ref keeper, Below& below)> visit);
  // Counts start from 0, and every node is new again.
  void BeginFile();

 private:
  // Entries of tables that are three quarters full, and the tables' own memory.
  static constexpr uint64_t kBytesPerSum = 2 * sizeof(Sum);

  const uint64_t max_sums_;
  uint64_t sum_count_ = 0;
  absl::flat_hash_map<signal_safe::Ref, Below> by_keeper_;
  std::vector<signal_safe::Ref> changed_;
};

}  // namespace jtrace::calls
