#include "postproc/export/labelled_ticks.h"

#include <algorithm>
#include <tuple>

#include "absl/container/btree_map.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// By node: itself, or the nearest ancestor that is shown.
std::vector<NodeId> Keepers(const CallTree& tree, const std::vector<NodeId>& shown) {
  std::vector<NodeId> keepers(tree.size());
  for (const NodeId id : shown) keepers[id.value - 1] = id;
  for (uint32_t i = 0; i < keepers.size(); ++i) {
    const NodeId parent = tree.node(NodeId(i + 1)).parent;
    if (!keepers[i] && parent) keepers[i] = keepers[parent.value - 1];
  }
  return keepers;
}

}  // namespace

std::string ExportedKey(std::string_view key, absl::Span<const std::string_view> own) {
  const bool is_taken = std::ranges::find(own, key) != own.end();
  return StrCat(is_taken ? "label." : "", key);
}

LabelledTicks::LabelledTicks(const ReportInput& input, const ExportTree& tree) {
  for (const Measure& measure : tree.measures()) {
    if (measure.kind == Measure::Kind::kTicks) ticks_ = &measure;
  }
  const std::vector<LoggedSample>& samples = input.samples.samples();
  const std::vector<NodeId>& ticked = input.tree.ticked();
  if (ticks_ == nullptr || input.model.labels_count() == 0 || ticked.size() != samples.size()) {
    return;
  }
  const std::vector<NodeId> keepers = Keepers(input.tree, tree.nodes());
  absl::btree_map<std::pair<NodeId, LabelsId>, int64_t> sums;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!ticked[i] || !samples[i].labels) continue;
    int64_t& sum = sums[{keepers[ticked[i].value - 1], samples[i].labels}];
    sum = WrapAdd(sum, samples[i].weight);
  }
  for (const auto& [key, sum] : sums) labelled_.push_back({key.first, {key.second, sum}});
}

absl::Span<const NodePart> LabelledTicks::PartsOf(NodeId id) {
  parts_.assign(1, {LabelsId(), ticks_ == nullptr ? 0 : ticks_->Base(id)});
  auto at = std::lower_bound(labelled_.begin(), labelled_.end(), id,
                             [](const Labelled& it, NodeId node) { return it.node < node; });
  for (; at != labelled_.end() && at->node == id; ++at) {
    parts_.push_back(at->part);
    parts_.front().ticks = WrapSub(parts_.front().ticks, at->part.ticks);
  }
  return parts_;
}

}  // namespace jtrace::postproc
