// Paths of the call tree without the places of calls: nodes that differ only by these have the same
// number (sites=on).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"

namespace jtrace::postproc {

// The tree may grow. No thread but one uses it.
class PlainPaths {
 public:
  explicit PlainPaths(const CallTree& tree) : tree_(tree) {}

  // Of the node's path, from 1 without gaps in the order in which they are requested.
  uint32_t Of(NodeId id);

 private:
  uint32_t Number(NodeId id);

  const CallTree& tree_;
  uint32_t last_ = 0;
  std::vector<uint32_t> number_;  // by node; 0: not yet known
  std::vector<NodeId> pending_;
  // By the parent's number, routine and space.
  absl::flat_hash_map<std::pair<uint64_t, ChildSpace>, uint32_t> children_;
};

}  // namespace jtrace::postproc
