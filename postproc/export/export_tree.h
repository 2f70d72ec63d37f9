// The tree as exports show it: nodes that --filter and --top leave out are folded into the parent,
// so that totals are those of the reports.
#pragma once

#include <cstdint>
#include <vector>

#include "postproc/calltree/measure.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

class ExportTree {
 public:
  explicit ExportTree(const ReportInput& input);

  // The nodes that are shown, depth first, siblings in the tree report's order (--sort). A node's
  // parent is shown if the node is, so that CallNode::level is its level here too.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  // All measures of the nodes, and in any case the report's measure. The base of a hidden node is
  // added to its nearest shown ancestor.
  const std::vector<Measure>& measures() const { return measures_; }
  const Measure& primary() const { return measures_[primary_]; }

 private:
  std::vector<bool> ChooseNodes(const ReportInput& input) const;
  void ChooseMeasures(const ReportInput& input);
  void Fold(const CallTree& tree, const std::vector<bool>& shown);

  std::vector<Measure> measures_;
  size_t primary_ = 0;
  std::vector<NodeId> nodes_;
};

}  // namespace jtrace::postproc
