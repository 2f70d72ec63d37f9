#include "postproc/export/export_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "postproc/report/tree_view.h"
#include "postproc/report/units.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// The indexes of the `top` greatest values of `count`, in that order; of equal ones the first, so
// that no child precedes its parent.
std::vector<uint32_t> Greatest(const PrefixColumn<int64_t>& values, size_t count, size_t top) {
  std::vector<uint32_t> order(count);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  const auto end = order.begin() + static_cast<ptrdiff_t>(std::min(top, order.size()));
  const auto is_before = [&](uint32_t a, uint32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  };
  if (end != order.end()) std::nth_element(order.begin(), end, order.end(), is_before);
  std::sort(order.begin(), end, is_before);
  order.erase(end, order.end());
  return order;
}

// By node, the bytes of its stack.
std::vector<uint64_t> StackBytes(const CallTree& tree, FrameBytes frame_bytes) {
  std::vector<uint64_t> bytes(tree.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const CallNode& node = tree.node(NodeId(static_cast<uint32_t>(i + 1)));
    bytes[i] = frame_bytes(node) + (node.parent ? bytes[node.parent.value - 1] : 0);
  }
  return bytes;
}

}  // namespace

ExportTree::ExportTree(const ReportInput& input) {
  ChooseMeasures(input);
  Show(input, ChooseNodes(input));
}

ExportTree::ExportTree(const ReportInput& input, StacksOf which, FrameBytes frame_bytes) {
  ChooseMeasures(input);
  std::vector<bool> shown;
  if (!input.options.filter_given && input.options.top == 0) {
    shown = ChooseStacks(input, which, frame_bytes);
  }
  Show(input, shown.empty() ? ChooseNodes(input) : std::move(shown));
}

void ExportTree::Show(const ReportInput& input, std::vector<bool> shown) {
  HideBranches(input, shown);
  Fold(input.tree, shown);
  TreeView(input, input.options.sort).Walk(&shown, [this](NodeId id) {
    nodes_.push_back(id);
    return true;
  });
}

void ExportTree::ChooseMeasures(const ReportInput& input) {
  std::vector<std::string> names = MeasureNames(input.model, input.tree);
  const auto primary = std::find(names.begin(), names.end(), input.measure().name);
  primary_ = static_cast<size_t>(primary - names.begin());
  if (primary == names.end()) names.push_back(input.measure().name);
  for (size_t i = 0; i < names.size(); ++i) {
    measures_.push_back(i == primary_ ? input.measure()
                                      : MakeMeasure(names[i], input.model, input.tree));
  }
}

std::vector<bool> ExportTree::ChooseStacks(const ReportInput& input, StacksOf which,
                                           FrameBytes frame_bytes) {
  const std::vector<uint64_t> bytes = StackBytes(input.tree, frame_bytes);
  const auto has_value = [&](size_t i) {
    if (which == StacksOf::kPrimary) return primary().base[i] > 0;
    return std::any_of(measures_.begin(), measures_.end(),
                       [&](const Measure& measure) { return measure.base[i] != 0; });
  };
  uint64_t all = 0;
  size_t stacks = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (!has_value(i)) continue;
    all += bytes[i];
    ++stacks;
  }
  if (all <= kMostStackBytes) return {};
  // A node without a value may get that of those folded into it.
  std::vector<bool> shown(bytes.size());
  uint64_t used = 0;
  size_t kept = 0;
  for (const uint32_t i : Greatest(primary().cum, bytes.size(), bytes.size())) {
    used += bytes[i];
    if (used > kMostStackBytes) break;
    shown[i] = true;
    ++kept;
  }
  if (input.notes != nullptr) {
    input.notes->push_back(StrCat("note: ", CountedText(static_cast<int64_t>(stacks), "stacks"),
                                  " would take ", ByteSizeText(all), ": those of the ",
                                  CountedText(static_cast<int64_t>(kept), "greatest paths"),
                                  " are written, and the others are in their callers' values; "
                                  "--filter=0 writes all, --top=N fewer"));
  }
  return shown;
}

std::vector<bool> ExportTree::ChooseNodes(const ReportInput& input) const {
  const size_t size = input.tree.size();
  if (input.options.top == 0) return std::vector<bool>(size, true);
  std::vector<bool> shown(size);
  for (const uint32_t i : Greatest(primary().cum, size, static_cast<size_t>(input.options.top))) {
    shown[i] = true;
  }
  return shown;
}

// Roots are always shown.
void ExportTree::HideBranches(const ReportInput& input, std::vector<bool>& shown) const {
  const CallTree& tree = input.tree;
  const PrefixColumn<int64_t>& inclusive = primary().cum;
  for (size_t i = 0; i < shown.size(); ++i) {
    const NodeId parent = tree.node(NodeId(static_cast<uint32_t>(i + 1))).parent;
    if (!parent) {
      shown[i] = true;
    } else if (!shown[parent.value - 1] ||
               PercentOf(inclusive[i], primary().whole) < input.options.filter_percent) {
      shown[i] = false;
    }
  }
}

void ExportTree::Fold(const CallTree& tree, const std::vector<bool>& shown) {
  // From the last node to the first: a node's number is greater than its parent's.
  for (size_t i = shown.size(); i-- > 0;) {
    if (shown[i]) continue;
    const size_t parent = tree.node(NodeId(static_cast<uint32_t>(i + 1))).parent.value - size_t{1};
    for (Measure& measure : measures_) {
      const int64_t value = measure.base[i];
      if (value == 0) continue;
      measure.base.At(parent) = WrapAdd(measure.base[parent], value);
      measure.base.At(i) = 0;
    }
  }
}

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
