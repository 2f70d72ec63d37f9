// A path in the agent's trees that moves from node to node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/model/path_step.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/definitions.h"

namespace jtrace::postproc {

// The cost of a move is the difference of the two paths, not their length: programs with deep
// recursion have long paths, all near each other.
class NodePath {
 public:
  static constexpr size_t kNoBound = std::numeric_limits<size_t>::max();

  // The steps from below the thread's root to the node, or to its nearest ancestor that was
  // kept, and below [lost] if its beginning is. Valid until the next move.
  absl::Span<const PathStep> steps() const { return steps_; }

  // Moves to a node of the definitions' trees, or 0, the root. Returns how many steps are those
  // of the path before; none, without moving, if there are more than `most_steps` others.
  std::optional<size_t> MoveTo(uint32_t node, size_t most_steps, Definitions& definitions,
                               TraceModel& model);
  // Moves to an unknown node.
  void MoveToLost(TraceModel& model);

 private:
  void Shorten(size_t size);
  void Append(uint32_t node, PathStep step);

  std::vector<uint32_t> nodes_;  // 0: [lost]
  std::vector<PathStep> steps_;
  absl::flat_hash_map<uint32_t, size_t> size_with_;  // the path's length through the node
  std::vector<uint32_t> below_;                      // reused
};

}  // namespace jtrace::postproc
