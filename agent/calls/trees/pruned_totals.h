// The sums that remain of tree nodes that were dropped (S3.14).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/calls/trees/path_blocks.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena_ref.h"

namespace jtrace::calls {

// The keeper of dropped nodes is the nearest kept node above them. Below it is a [pruned] node that
// only the trace has, and below that one sum for each routine. So counts by routine stay exact
// whatever is dropped. On the writer thread only.
class PrunedTotals {
 public:
  // The calls of one routine below one keeper, totals of the file.
  struct Sum {
    uint32_t number = 0;  // in the trace
    bool is_new = true;   // not reported in this file
    bool changed = false;
    bool has_extremes = true;  // values.least and greatest are of single activations
    uint64_t calls = 0;
    uint64_t jitted = 0;
    NodeValues values = {};
    PathCounts blocks = {};  // blocks=paths

    // Returns the values, with valid bounds in place of extremes that are not known.
    NodeValues ReportedValues() const;
  };
  struct Below {
    uint32_t number = 0;  // of the [pruned] node, given by the reporting code; 0: not reported
    bool is_new = true;   // in this file
    absl::flat_hash_map<uint32_t, Sum> sums;  // by routine
    std::vector<uint32_t> changed;            // routines, since the last ForEachChanged
  };

  // `max_bytes`: the limit for the sums.
  explicit PrunedTotals(uint64_t max_bytes) : max_sums_(max_bytes / kBytesPerSum) {}

  // Whether memory is used up: sums should then be added below roots, where fewer are needed.
  bool IsFull() const { return sum_count_ >= max_sums_; }
  bool empty() const { return by_keeper_.empty(); }
  uint64_t memory_bytes() const { return sum_count_ * kBytesPerSum; }

  // Adds a node's counts in this file to a sum. A new sum gets the number after `last_number`.
  void Add(signal_safe::Ref keeper, uint32_t routine, const Sum& counted, uint32_t& last_number);
  // Moves the sums of a dropped keeper. Calls `was_reported` with the numbers that the file knows.
  void MoveUp(signal_safe::Ref keeper, signal_safe::Ref next_keeper, uint32_t& last_number,
              absl::FunctionRef<void(uint32_t number)> was_reported);
  // Removes the sums of a keeper whose thread has ended.
  void Erase(signal_safe::Ref keeper);

  // Calls `visit` for each keeper below which something changed since the last time; data passed to
  // it counts as reported afterwards.
  void ForEachChanged(absl::FunctionRef<void(signal_safe::Ref keeper, Below& below)> visit);
  // Counts start from 0, and every node is new again.
  void BeginFile();

 private:
  // An estimate: an entry in a table that is three quarters full, and a share of the tables.
  static constexpr uint64_t kBytesPerSum = 2 * sizeof(Sum);

  const uint64_t max_sums_;
  uint64_t sum_count_ = 0;
  absl::flat_hash_map<signal_safe::Ref, Below> by_keeper_;
  std::vector<signal_safe::Ref> changed_;
};

}  // namespace jtrace::calls
