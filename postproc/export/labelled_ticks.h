// The ticks of an export's nodes, by the labels that the threads had (JTrace.label).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/export/export_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

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
