// The remains of tree nodes that were dropped (S3.14).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/hot/layout.h"
#include "agent/probes/group_forest.h"
#include "agent/probes/path_blocks.h"

namespace jtrace {

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

  // `most_bytes`: the limit for the sums.
  explicit PrunedNodes(uint64_t most_bytes) : most_sums_(most_bytes / kBytesPerSum) {}

  // Sums should be added below the threads' roots from here on, where there are fewer.
  bool IsFull() const { return sum_count_ >= most_sums_; }
  bool empty() const { return by_keeper_.empty(); }
  uint64_t memory_bytes() const { return sum_count_ * kBytesPerSum; }

  // Adds the counts of a node of `routine` in this file. Numbers are taken from `last_number`.
  void Add(hot::Ref keeper, uint32_t routine, const Sum& counted, uint32_t& last_number);
  // `keeper` is dropped as well. Calls `was_reported` with the numbers that the file knows.
  void MoveUp(hot::Ref keeper, hot::Ref next_keeper, uint32_t& last_number,
              absl::FunctionRef<void(uint32_t number)> was_reported);
  // Its thread has ended.
  void Erase(hot::Ref keeper);

  // Calls `visit` for each keeper below which something changed since the last time; data passed to
  // it counts as reported afterwards.
  void ForEachChanged(absl::FunctionRef<void(hot::Ref keeper, Below& below)> visit);
  // Counts start from 0, and every node is new again.
  void BeginFile();

 private:
  // Entries of tables that are three quarters full, and the tables' own memory.
  static constexpr uint64_t kBytesPerSum = 2 * sizeof(Sum);

  const uint64_t most_sums_;
  uint64_t sum_count_ = 0;
  absl::flat_hash_map<hot::Ref, Below> by_keeper_;
  std::vector<hot::Ref> changed_;
};

}  // namespace jtrace
