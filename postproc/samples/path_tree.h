// Call paths over all threads with inclusive and exclusive counts: of sampled stacks, or of a call
// tree's nodes (S1.6–S1.8).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/model/trace_model.h"
#include "postproc/samples/sample_log.h"

namespace jtrace::postproc {

// A set of routines, e.g. all overloads that --of names.
using RoutinePredicate = std::function<bool(RoutineId)>;

// A routine on a path; its values are over all paths through it.
struct PathNode {
  RoutineId routine;
  CallSite place = kNoCallSite;  // from which the one before calls it, if distinguished
  uint32_t parent = 0;           // index + 1; 0: none
  uint32_t level = 0;
  int64_t inclusive = 0;
  int64_t exclusive = 0;
};

class PathTree {
 public:
  // With `start`, paths begin at each stack's outermost frame that `start` accepts, and stacks
  // without one are left out. Samples without frames count as the path [no_frames]. `with_places`:
  // paths that differ by the places of calls stay apart.
  PathTree(TraceModel& model, const SampleLog& log, bool with_places = false,
           const RoutinePredicate& start = nullptr);

  // The paths of the nodes with a value in themselves or below; `base` by node, index is
  // NodeId.value - 1. Places are those of the tree. A thread root's own value counts as the path
  // [no_frames].
  PathTree(TraceModel& model, const CallTree& tree, const std::vector<int64_t>& base,
           const RoutinePredicate& start = nullptr);

  const PathNode& node(uint32_t index) const { return nodes_[index]; }
  // Depth first; siblings by inclusive descending, then name.
  std::vector<uint32_t> Order(const TraceModel& model) const;
  // "A > B > C", with places "A:120 > B > C"
  std::string Path(const TraceModel& model, uint32_t index) const;
  // Of all paths.
  int64_t total() const { return total_; }

 private:
  uint32_t Child(uint32_t parent, RoutineId routine, CallSite place);
  void AddNoFrames(TraceModel& model, int64_t value, const RoutinePredicate& start);
  void SumUp();

  std::vector<PathNode> nodes_;
  absl::flat_hash_map<std::pair<uint64_t, CallSite>, uint32_t> children_;
  int64_t total_ = 0;
};

// Σ weights by stack; index is StackId.value, 0 for samples without frames.
std::vector<int64_t> WeightByStack(const SampleLog& log);
int64_t TotalWeight(const SampleLog& log);

}  // namespace jtrace::postproc
