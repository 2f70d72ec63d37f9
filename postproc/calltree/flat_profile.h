// A row for each routine over all threads, including the threads' roots (FIG. 26, S3.18).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/measure.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// A routine's values of a measure: cum over outermost activations, cum2 over all of them.
struct MeasureSums {
  int64_t base = 0;
  int64_t cum = 0;
  int64_t cum2 = 0;
};

// One row: a routine, or a thread's root.
struct FlatRow {
  std::string_view name;
  bool is_root = false;
  RoutineId routine;  // none for a root
  int64_t calls = 0;
  int64_t calls_jitted = 0;
  int64_t base = 0;
  int64_t cum = 0;   // over outermost activations: no routine exceeds the whole
  int64_t cum2 = 0;  // over all activations
  int64_t elapsed = 0;
  int64_t base_ticks = 0;
  int64_t cum_ticks = 0;
  int64_t cum2_ticks = 0;
  int64_t samples = 0;
  MeasureSums measure;  // ticks, time or calls too, if the profile's measure is one of them
  int64_t min_base = 0;
  int64_t max_base = 0;
  bool has_extremes = false;
  bool has_rough_extremes = false;  // as CallNode
  int64_t outside_calls = 0;        // as CallNode
  int64_t outside_time = 0;
  bool instrumented = false;  // events entered it
  // Adds a node of the row's routine.
  void Add(NodeId id, const CallNode& node, const NodeTotals& totals, const Measure& by);

  // Some calls have no separate path but are below [pruned]: cum, cum2 and elapsed may be greater,
  // and the extremes may lie further inside.
  bool has_bounds = false;
};

// Whether each node is below a [pruned] one; empty: none is.
std::vector<bool> FindBelowPruned(const TraceModel& model, const CallTree& tree);

class FlatProfile {
 public:
  // `tree` outlives it.
  FlatProfile(const TraceModel& model, const CallTree& tree, const TreeTotals& totals,
              const Measure& measure);

  // In the order of first appearance.
  const std::vector<FlatRow>& rows() const { return rows_; }
  // The row of a node's routine.
  uint32_t RowOf(NodeId id) const {
    const RoutineId routine = tree_.routine(id);
    return routine ? row_of_routine_[routine.value] : row_of_root_.at(id);
  }
  // Rows by cum of the measure if --metric chose it, then cum, cum_ticks and calls descending, then
  // name (a routine before a thread of its name).
  std::vector<uint32_t> Sorted() const;

 private:
  void AddRows(const TraceModel& model);

  const CallTree& tree_;
  const bool by_measure_;
  std::vector<FlatRow> rows_;
  std::vector<uint32_t> row_of_routine_;
  absl::flat_hash_map<NodeId, uint32_t> row_of_root_;
};

// A row for each routine of each thread, the threads' roots included (S3.11): FlatProfile, thread
// by thread.
struct ThreadRow {
  ThreadId thread;
  FlatRow sums;
};

// By base of the measure if --metric chose it, then base_ticks, base and calls descending, then by
// thread and name (a routine before its thread's root).
std::vector<ThreadRow> ThreadProfile(const TraceModel& model, const CallTree& tree,
                                     const TreeTotals& totals, const Measure& measure);

}  // namespace jtrace::postproc
