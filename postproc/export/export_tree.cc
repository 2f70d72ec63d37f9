#include "postproc/export/export_tree.h"

#include <algorithm>

#include "postproc/report/tree_view.h"
#include "postproc/report/units.h"

namespace jtrace::postproc {
namespace {

// The indexes of the `top` greatest values; of equal ones the first, so that no child precedes its
// parent.
std::vector<bool> Greatest(const std::vector<int64_t>& values, size_t top) {
  std::vector<uint32_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  const auto end = order.begin() + static_cast<ptrdiff_t>(std::min(top, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](uint32_t a, uint32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  std::vector<bool> chosen(values.size());
  for (auto it = order.begin(); it != end; ++it) chosen[*it] = true;
  return chosen;
}

}  // namespace

ExportTree::ExportTree(const ReportInput& input) {
  ChooseMeasures(input);
  const std::vector<bool> shown = ChooseNodes(input);
  Fold(input.tree, shown);
  nodes_ = TreeView(input, input.options.sort).DepthFirst();
  std::erase_if(nodes_, [&](NodeId id) { return !shown[id.value - 1]; });
}

void ExportTree::ChooseMeasures(const ReportInput& input) {
  std::vector<std::string> names = MeasureNames(input.model, input.tree);
  const auto primary = std::find(names.begin(), names.end(), input.measure.name);
  primary_ = static_cast<size_t>(primary - names.begin());
  if (primary == names.end()) names.push_back(input.measure.name);
  for (size_t i = 0; i < names.size(); ++i) {
    measures_.push_back(i == primary_ ? input.measure
                                      : MakeMeasure(names[i], input.model, input.tree));
  }
}

// By node. Roots are always shown, others if all their ancestors are.
std::vector<bool> ExportTree::ChooseNodes(const ReportInput& input) const {
  const CallTree& tree = input.tree;
  const std::vector<int64_t>& inclusive = primary().cum;
  std::vector<bool> shown(tree.size(), true);
  if (input.options.top > 0) shown = Greatest(inclusive, static_cast<size_t>(input.options.top));
  for (size_t i = 0; i < shown.size(); ++i) {
    const NodeId parent = tree.node(NodeId(static_cast<uint32_t>(i + 1))).parent;
    if (!parent) {
      shown[i] = true;
    } else if (!shown[parent.value - 1] ||
               PercentOf(inclusive[i], primary().whole) < input.options.filter_percent) {
      shown[i] = false;
    }
  }
  return shown;
}

void ExportTree::Fold(const CallTree& tree, const std::vector<bool>& shown) {
  // From the last node to the first: a node's number is greater than its parent's.
  for (size_t i = shown.size(); i-- > 0;) {
    if (shown[i]) continue;
    const size_t parent = tree.node(NodeId(static_cast<uint32_t>(i + 1))).parent.value - size_t{1};
    for (Measure& measure : measures_) {
      measure.base[parent] = WrapAdd(measure.base[parent], measure.base[i]);
      measure.base[i] = 0;
    }
  }
}

}  // namespace jtrace::postproc
