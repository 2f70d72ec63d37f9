#include "postproc/page/page_tree.h"

#include <algorithm>
#include <tuple>

namespace jtrace::postproc {
namespace {

size_t IndexOf(NodeId id) { return id.value - 1; }

NodeId IdAt(size_t index) { return NodeId(static_cast<uint32_t>(index + 1)); }

// The order of siblings in the tree report.
bool ComesBefore(const ReportInput& input, NodeId a, NodeId b) {
  const NodeTotals& a_totals = input.totals()[IndexOf(a)];
  const NodeTotals& b_totals = input.totals()[IndexOf(b)];
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

// By routine; none of a routine that has no node.
std::vector<NodeId> HottestNodes(const ReportInput& input) {
  std::vector<NodeId> hottest(input.model.routine_count() + 1);
  for (size_t i = 0; i < input.tree.size(); ++i) {
    const NodeId id = IdAt(i);
    const RoutineId routine = input.tree.node(id).routine;
    NodeId& known = hottest[routine.value];
    if (routine && (!known || input.measure().Cum(id) > input.measure().Cum(known))) known = id;
  }
  return hottest;
}

// By node: it is the hottest of its routine, or above such a node. At most `most` of these: first
// those that need the fewest above them.
std::vector<bool> NodesOfRoutines(const ReportInput& input, size_t most) {
  const CallTree& tree = input.tree;
  std::vector<NodeId> hottest = HottestNodes(input);
  std::erase(hottest, NodeId());
  std::sort(hottest.begin(), hottest.end(), [&](NodeId a, NodeId b) {
    const uint32_t a_level = tree.node(a).level, b_level = tree.node(b).level;
    return a_level != b_level ? a_level < b_level : a < b;
  });
  std::vector<bool> chosen(tree.size());
  std::vector<NodeId> path;
  for (const NodeId id : hottest) {
    path.clear();
    for (NodeId at = id; at && !chosen[IndexOf(at)]; at = tree.node(at).parent) path.push_back(at);
    if (path.size() > most) break;
    most -= path.size();
    for (const NodeId at : path) chosen[IndexOf(at)] = true;
  }
  return chosen;
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

// Those of each routine, then the hottest ones. Of equally hot nodes the parent is first, because
// its number is smaller.
void PageTree::Choose(const ReportInput& input, size_t limit) {
  std::vector<NodeId> order(input.tree.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = IdAt(i);
  const std::vector<bool> of_routines = NodesOfRoutines(input, limit / 2);
  size_t keep = std::max(std::min(limit, order.size()), input.tree.roots().size());
  const auto is_before = [&](NodeId a, NodeId b) {
    const bool a_root = !input.tree.node(a).parent;
    const bool b_root = !input.tree.node(b).parent;
    if (a_root != b_root) return a_root;
    const bool a_chosen = of_routines[IndexOf(a)];
    const bool b_chosen = of_routines[IndexOf(b)];
    if (a_chosen != b_chosen) return a_chosen;
    const int64_t a_heat = input.measure().Cum(a);
    const int64_t b_heat = input.measure().Cum(b);
    return a_heat != b_heat ? a_heat > b_heat : a < b;
  };
  // No more than these can stay.
  const auto end = order.begin() + static_cast<ptrdiff_t>(keep);
  if (end != order.end()) std::nth_element(order.begin(), end, order.end(), is_before);
  std::sort(order.begin(), end, is_before);
  for (size_t made = Keep(input, order, keep); made > limit && keep > input.tree.roots().size();
       made = Keep(input, order, keep)) {
    keep = std::max(keep - (made - limit + 1) / 2, input.tree.roots().size());
  }
  if (keep == order.size()) return;
  heat_left_out_ = input.measure().Cum(order[keep]);
  for (size_t i = keep; i < order.size(); ++i) {
    heat_left_out_ = std::max(heat_left_out_, input.measure().Cum(order[i]));
  }
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
  for (size_t i = 0; i < keeper_.size(); ++i) {
    if (keeper_[i] != IdAt(i)) sums_[keeper_[i]].Add(tree.node(IdAt(i)));
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
      for (size_t i = children.size(); i-- > 0;) stack.push_back({children[i], next.level + 1});
    }
  }
}

std::vector<int64_t> PageTree::Fold(const PrefixColumn<int64_t>& values) const {
  PrefixColumn<int64_t> pruned(values.size());
  for (size_t i = 0; left_out_ > 0 && i < values.size(); ++i) {
    if (keeper_[i] == IdAt(i)) continue;
    int64_t& sum = pruned.At(IndexOf(keeper_[i]));
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
