// The part of the call tree that a page holds, in preorder. A tree with too many nodes is cut by
// heat: below each node that stays, the removed nodes are summed up in one node, so that every
// total holds. The hottest node of each routine stays, as far as half of the page is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

inline constexpr size_t kMaxPageNodes = 200'000;

// A node of the call tree, or a [pruned] node that replaces some.
struct PageNode {
  NodeId source;           // of a [pruned] node: its parent
  bool is_pruned = false;  // replaces children of `source` and all below them
  uint32_t level = 0;
};

// The nodes that a [pruned] node replaces.
struct PrunedSums {
  int64_t calls = 0;
  int64_t calls_jitted = 0;
  int64_t base = 0;
  int64_t off = 0;
  int64_t base_ticks = 0;
  int64_t samples = 0;
  void Add(const CallNode& node);
};

class PageTree {
 public:
  // At most `limit` nodes, unless there are more threads than that.
  PageTree(const ReportInput& input, size_t limit);

  const std::vector<PageNode>& nodes() const { return nodes_; }
  const PrunedSums& pruned(const PageNode& node) const { return sums_.at(node.source); }
  // The node itself if the page has it, else the one above it whose [pruned] node has its numbers.
  NodeId keeper(NodeId id) const { return keeper_[id.value - 1]; }
  // A value of each node of the tree (index is NodeId.value - 1) by the page's nodes.
  std::vector<int64_t> Fold(const PrefixColumn<int64_t>& values) const;

  size_t nodes_left_out() const { return left_out_; }
  // No node that was left out has more heat than this.
  int64_t heat_left_out() const { return heat_left_out_; }

 private:
  void Choose(const ReportInput& input, size_t limit);
  // Keeps the first `count` of `order` whose parents are kept. Returns the number of nodes of the
  // page.
  size_t Keep(const ReportInput& input, const std::vector<NodeId>& order, size_t count);
  void SumUpPruned(const CallTree& tree);
  void AppendSubtrees(const ReportInput& input);

  std::vector<PageNode> nodes_;
  // By node: the node itself if it is kept, else the kept one above it.
  std::vector<NodeId> keeper_;
  std::vector<bool> loses_children_;
  absl::flat_hash_map<NodeId, PrunedSums> sums_;  // by the parent of what was left out
  size_t left_out_ = 0;
  int64_t heat_left_out_ = 0;
};

}  // namespace jtrace::postproc
