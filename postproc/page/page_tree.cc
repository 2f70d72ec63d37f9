#include "postproc/page/page_tree.h"

#include <algorithm>
#include <tuple>

namespace jtrace::postproc {
namespace {

size_t IndexOf(NodeId id) { return id.value - 1; }

NodeId IdAt(size_t index) { return NodeId(static_cast<uint32_t>(index + 1)); }

// The order of siblings in the tree report.
bool ComesBefore(const ReportInput& input, NodeId a, NodeId b) {
  const NodeTotals& a_totals = input.totals[IndexOf(a)];
  const NodeTotals& b_totals = input.totals[IndexOf(b)];
  const CallNode& a_node = input.tree.node(a);
  const CallNode& b_node = input.tree.node(b);
  const auto a_heat = std::tie(a_totals.cum, a_totals.cum_ticks, a_node.calls);
  const auto b_heat = std::tie(b_totals.cum, b_totals.cum_ticks, b_node.calls);
  if (a_heat != b_heat) return a_heat > b_heat;
  const std::string_view a_name = input.model.RoutineName(a_node.routine);
  const std::string_view b_name = input.model.RoutineName(b_node.routine);
  if (a_name != b_name) return a_name < b_name;
  return a_node.place < b_node.place;
}

}  // namespace

void PrunedSums::Add(const CallNode& node) {
  calls = WrapAdd(calls, node.calls);
  calls_jitted = WrapAdd(calls_jitted, node.calls_jitted);
  base = WrapAdd(base, node.base);
  off = WrapAdd(off, node.off);
  base_ticks = WrapAdd(base_ticks, node.base_ticks);
  samples = WrapAdd(samples, node.samples);
}

PageTree::PageTree(const ReportInput& input, size_t limit) {
  const size_t count = input.tree.size();
  keeper_.resize(count);
  loses_children_.resize(count);
  for (size_t i = 0; i < count; ++i) keeper_[i] = IdAt(i);
  if (count > limit) {
    Choose(input, limit);
    SumUpPruned(input.tree);
  }
  AppendSubtrees(input);
}

// The hottest ones. Of equally hot nodes the parent is first, because its number is smaller.
void PageTree::Choose(const ReportInput& input, size_t limit) {
  std::vector<NodeId> order(input.tree.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = IdAt(i);
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    const bool a_root = !input.tree.node(a).parent;
    const bool b_root = !input.tree.node(b).parent;
    if (a_root != b_root) return a_root;
    const int64_t a_heat = input.measure.Cum(a);
    const int64_t b_heat = input.measure.Cum(b);
    return a_heat != b_heat ? a_heat > b_heat : a < b;
  });
  size_t keep = std::max(std::min(limit, order.size()), input.tree.roots().size());
  for (size_t made = Keep(input, order, keep); made > limit && keep > input.tree.roots().size();
       made = Keep(input, order, keep)) {
    keep = std::max(keep - (made - limit + 1) / 2, input.tree.roots().size());
  }
  if (keep < order.size()) heat_left_out_ = input.measure.Cum(order[keep]);
}

size_t PageTree::Keep(const ReportInput& input, const std::vector<NodeId>& order, size_t count) {
  std::fill(keeper_.begin(), keeper_.end(), NodeId());
  std::fill(loses_children_.begin(), loses_children_.end(), false);
  for (size_t i = 0; i < count; ++i) keeper_[IndexOf(order[i])] = order[i];
  left_out_ = 0;
  size_t summaries = 0;
  for (size_t i = 0; i < keeper_.size(); ++i) {
    const NodeId parent = input.tree.node(IdAt(i)).parent;
    if (!parent) continue;
    const NodeId above = keeper_[IndexOf(parent)];
    if (keeper_[i] && above == parent) continue;
    keeper_[i] = above;
    ++left_out_;
    if (!loses_children_[IndexOf(above)]) ++summaries;
    loses_children_[IndexOf(above)] = true;
  }
  return keeper_.size() - left_out_ + summaries;
}

void PageTree::SumUpPruned(const CallTree& tree) {
  sums_.resize(tree.size());
  for (size_t i = 0; i < keeper_.size(); ++i) {
    if (keeper_[i] != IdAt(i)) sums_[IndexOf(keeper_[i])].Add(tree.node(IdAt(i)));
  }
}

void PageTree::AppendSubtrees(const ReportInput& input) {
  const auto before = [&](NodeId a, NodeId b) { return ComesBefore(input, a, b); };
  struct Pending {
    NodeId id;
    uint32_t level;
  };
  std::vector<Pending> stack;
  std::vector<NodeId> children;
  for (const ThreadSummary& thread : input.threads) {
    stack.push_back({thread.root, 0});
    while (!stack.empty()) {
      const Pending next = stack.back();
      stack.pop_back();
      nodes_.push_back({next.id, false, next.level});
      children.clear();
      for (NodeId child = input.tree.node(next.id).first_child; child;
           child = input.tree.node(child).next_sibling) {
        if (keeper_[IndexOf(child)] == child) children.push_back(child);
      }
      std::sort(children.begin(), children.end(), before);
      if (loses_children_[IndexOf(next.id)]) nodes_.push_back({next.id, true, next.level + 1});
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        stack.push_back({*child, next.level + 1});
      }
    }
  }
}

std::vector<int64_t> PageTree::Fold(const std::vector<int64_t>& values) const {
  std::vector<int64_t> pruned(values.size());
  for (size_t i = 0; left_out_ > 0 && i < values.size(); ++i) {
    if (keeper_[i] == IdAt(i)) continue;
    int64_t& sum = pruned[IndexOf(keeper_[i])];
    sum = WrapAdd(sum, values[i]);
  }
  std::vector<int64_t> folded;
  folded.reserve(nodes_.size());
  for (const PageNode& node : nodes_) {
    folded.push_back((node.is_pruned ? pruned : values)[IndexOf(node.source)]);
  }
  return folded;
}

}  // namespace jtrace::postproc
