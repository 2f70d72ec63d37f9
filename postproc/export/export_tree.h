// The tree as exports show it: what --filter and --top leave out is folded into the parent, so that
// totals stay what the reports say.
#pragma once

#include <cstdint>
#include <vector>

#include "postproc/export/weights.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

class ExportTree {
 public:
  explicit ExportTree(const ReportInput& input);

  // The nodes that are shown, depth first, siblings in the tree report's order (--sort). A node's
  // parent is shown if the node is, so that CallNode::level is its level here too.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  // Values of nodes that are not shown are in those of their nearest ancestor that is.
  const std::vector<Weight>& weights() const { return weights_; }
  const Weight& primary() const { return weights_[primary_]; }
  int64_t Value(const Weight& weight, NodeId id) const { return weight.values[id.value - 1]; }

 private:
  std::vector<bool> ChooseNodes(const ReportInput& input) const;
  void Fold(const CallTree& tree, const std::vector<bool>& shown);

  std::vector<Weight> weights_;
  size_t primary_ = 0;
  std::vector<NodeId> nodes_;
};

}  // namespace jtrace::postproc
