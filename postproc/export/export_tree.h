// The tree as exports show it: nodes that --filter and --top leave out are folded into the parent,
// so that totals are those of the reports. Without these options so are the least nodes of a tree
// whose stacks would take more than kMostStackBytes: a deep stack that many nodes share is written
// for each of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "postproc/calltree/measure.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// About how many bytes a format needs for a frame of a stack.
using FrameBytes = absl::FunctionRef<size_t(const CallNode&)>;
// Which nodes it writes stacks of: those that have a value of the report's measure, or of any.
enum class StacksOf { kPrimary, kAll };

class ExportTree {
 public:
  static constexpr uint64_t kMostStackBytes = uint64_t{1} << 28;

  // For formats that write no stacks.
  explicit ExportTree(const ReportInput& input);
  // A note says it if nodes are folded.
  ExportTree(const ReportInput& input, StacksOf which, FrameBytes frame_bytes);

  // The nodes that are shown, depth first, siblings in the tree report's order (--sort). A node's
  // parent is shown if the node is, so that CallNode::level is its level here too.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  // All measures of the nodes, and in any case the report's measure. The base of a hidden node is
  // added to its nearest shown ancestor.
  const std::vector<Measure>& measures() const { return measures_; }
  const Measure& primary() const { return measures_[primary_]; }

 private:
  void Show(const ReportInput& input, std::vector<bool> shown);
  // The nodes whose stacks there is room for; empty: for all of them.
  std::vector<bool> ChooseStacks(const ReportInput& input, StacksOf which, FrameBytes frame_bytes);
  std::vector<bool> ChooseNodes(const ReportInput& input) const;
  // Hides nodes whose ancestors are hidden, or that are below --filter.
  void HideBranches(const ReportInput& input, std::vector<bool>& shown) const;
  void ChooseMeasures(const ReportInput& input);
  void Fold(const CallTree& tree, const std::vector<bool>& shown);

  std::vector<Measure> measures_;
  size_t primary_ = 0;
  std::vector<NodeId> nodes_;
};

// A label's key in an export that has `own` keys itself: "label.thread" beside a thread's own
// label.
std::string ExportedKey(std::string_view key, absl::Span<const std::string_view> own);

// A part of a node: its ticks under some labels. The first part of a node has none, the node's
// other ticks, and all that it has besides ticks.
struct NodePart {
  LabelsId labels;
  int64_t ticks = 0;

  int64_t Base(const Measure& measure, NodeId id) const {
    if (measure.kind == Measure::Kind::kTicks) return ticks;
    return labels ? 0 : measure.Base(id);
  }
};

class LabelledTicks {
 public:
  // Ticks of nodes that the export does not show belong to their nearest ancestors that it shows.
  LabelledTicks(const ReportInput& input, const ExportTree& tree);

  // The node's parts; valid until the next call.
  absl::Span<const NodePart> PartsOf(NodeId id);

 private:
  struct Labelled {
    NodeId node;
    NodePart part;
  };

  const Measure* ticks_ = nullptr;  // null: the export has none
  std::vector<Labelled> labelled_;  // by node, then by labels
  std::vector<NodePart> parts_;     // reused
};

}  // namespace jtrace::postproc
