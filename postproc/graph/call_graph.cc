#include "postproc/graph/call_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "postproc/report/units.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kAllThreadsName = "[all threads]";

// Calls enter(id) before and leave(id) after all nodes below.
template <typename Enter, typename Leave>
void WalkDepthFirst(const CallTree& tree, NodeId root, Enter enter, Leave leave) {
  NodeId at = root;
  while (at) {
    enter(at);
    if (tree.node(at).first_child) {
      at = tree.node(at).first_child;
      continue;
    }
    leave(at);
    while (at != root && !tree.node(at).next_sibling) {
      at = tree.node(at).parent;
      leave(at);
    }
    at = at == root ? NodeId() : tree.node(at).next_sibling;
  }
}

}  // namespace

std::vector<SelfAndTotal> CostOfRoutines(const GraphSource& source) {
  std::vector<SelfAndTotal> costs;
  for (const FlatRow& row : source.flat.rows()) {
    costs.push_back({row.measure.base, row.measure.cum});
  }
  return costs;
}

// One pass over the tree with the rows that are shown.
class CallGraph::Builder {
 public:
  Builder(const GraphSource& source, CallGraph& graph) : source_(source), graph_(graph) {}

  void AddNodes(double filter_percent);
  void AddArcs();
  void Sort();

 private:
  static constexpr uint32_t kHidden = UINT32_MAX;

  void Enter(NodeId id);
  void Collapse(uint32_t owner, const CallNode& node, int64_t self);
  size_t FindArc(uint32_t caller, uint32_t callee, CallSite place);

  const GraphSource& source_;
  CallGraph& graph_;
  std::vector<uint32_t> node_of_row_;
  // By tree node: the graph's node that it belongs to, and the arc that leads to it, if it is
  // shown.
  static constexpr size_t kNoArc = SIZE_MAX;
  std::vector<uint32_t> owner_;
  std::vector<size_t> arc_of_;
  std::vector<CallSite> left_from_;  // if it is hidden: the place where its path leaves the owner
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, CallSite>, size_t> arc_index_;
  std::vector<uint32_t> open_;       // by arc: how often it is on the path from the root
  std::vector<bool> not_recursive_;  // by arc: the callee was not active once
};

void CallGraph::Builder::AddNodes(double filter_percent) {
  const std::vector<SelfAndTotal> costs = CostOfRoutines(source_);
  const std::vector<FlatRow>& rows = source_.flat.rows();
  node_of_row_.assign(rows.size(), kHidden);
  GraphNode& root = graph_.nodes_.emplace_back();
  root.total = source_.measure.whole;
  std::vector<uint32_t> shown;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (rows[row].is_root) {
      node_of_row_[row] = 0;
      root.calls = WrapAdd(root.calls, rows[row].calls);
      root.self = WrapAdd(root.self, costs[row].self);
    } else if (filter_percent == 0 ||
               PercentOf(costs[row].total, source_.measure.whole) >= filter_percent) {
      shown.push_back(row);
    } else {
      ++graph_.collapsed_.routines;
    }
  }
  std::sort(shown.begin(), shown.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(costs[b].total, rows[b].calls, rows[a].name) <
           std::tie(costs[a].total, rows[a].calls, rows[b].name);
  });
  for (const uint32_t row : shown) {
    node_of_row_[row] = static_cast<uint32_t>(graph_.nodes_.size());
    graph_.nodes_.push_back({row, rows[row].calls, costs[row].self, 0, costs[row].total});
  }
}

size_t CallGraph::Builder::FindArc(uint32_t caller, uint32_t callee, CallSite place) {
  const auto [entry, inserted] =
      arc_index_.try_emplace(std::tuple(caller, callee, place), graph_.arcs_.size());
  if (inserted) {
    GraphArc& arc = graph_.arcs_.emplace_back();
    arc.caller = caller;
    arc.callee = callee;
    arc.place = place;
    open_.push_back(0);
    not_recursive_.push_back(false);
  }
  return entry->second;
}

void CallGraph::Builder::Collapse(uint32_t owner, const CallNode& node, int64_t self) {
  GraphNode& into = graph_.nodes_[owner];
  into.collapsed = WrapAdd(into.collapsed, self);
  graph_.collapsed_.self = WrapAdd(graph_.collapsed_.self, self);
  graph_.collapsed_.calls = WrapAdd(graph_.collapsed_.calls, node.calls);
}

void CallGraph::Builder::Enter(NodeId id) {
  const uint32_t i = id.value - 1;
  const CallNode& node = source_.tree.node(id);
  const uint32_t shown = node_of_row_[source_.flat.RowOf(id)];
  if (!node.parent) {
    owner_[i] = 0;
    return;
  }
  const uint32_t caller = owner_[node.parent.value - 1];
  const bool is_direct = node_of_row_[source_.flat.RowOf(node.parent)] != kHidden;
  const CallSite place = is_direct ? node.place : left_from_[node.parent.value - 1];
  if (shown == kHidden) {
    owner_[i] = caller;
    left_from_[i] = place;
    Collapse(caller, node, source_.measure.base[i]);
    return;
  }
  owner_[i] = shown;
  const size_t index = arc_of_[i] = FindArc(caller, shown, place);
  GraphArc& arc = graph_.arcs_[index];
  arc.calls = WrapAdd(arc.calls, node.calls);
  if (!is_direct) arc.calls_collapsed = WrapAdd(arc.calls_collapsed, node.calls);
  const int64_t inclusive = source_.measure.cum[i];
  arc.total2 = WrapAdd(arc.total2, inclusive);
  arc.self = WrapAdd(arc.self, source_.measure.base[i]);
  if (source_.totals[i].recursion_level == 1) {
    arc.total = WrapAdd(arc.total, inclusive);
    not_recursive_[index] = true;
  } else {
    arc.recursion = Recursion::kBack;
  }
  if (open_[index]++ == 0) arc.inclusive = WrapAdd(arc.inclusive, inclusive);
}

void CallGraph::Builder::AddArcs() {
  owner_.assign(source_.tree.size(), 0);
  arc_of_.assign(source_.tree.size(), kNoArc);
  left_from_.assign(source_.tree.size(), kNoCallSite);
  for (const NodeId root : source_.tree.roots()) {
    WalkDepthFirst(
        source_.tree, root, [&](NodeId id) { Enter(id); },
        [&](NodeId id) {
          const size_t arc = arc_of_[id.value - 1];
          if (arc != kNoArc) --open_[arc];
        });
  }
  for (size_t i = 0; i < graph_.arcs_.size(); ++i) {
    GraphArc& arc = graph_.arcs_[i];
    if (arc.caller == arc.callee) {
      arc.recursion = Recursion::kSelf;
    } else if (arc.recursion == Recursion::kBack && not_recursive_[i]) {
      arc.recursion = Recursion::kPartly;
    }
  }
}

void CallGraph::Builder::Sort() {
  std::sort(graph_.arcs_.begin(), graph_.arcs_.end(), [](const GraphArc& a, const GraphArc& b) {
    return std::tie(b.inclusive, b.calls, a.caller, a.callee, a.place) <
           std::tie(a.inclusive, a.calls, b.caller, b.callee, b.place);
  });
}

CallGraph::CallGraph(const GraphSource& source, double filter_percent)
    : flat_(source.flat), whole_(source.measure.whole) {
  Builder builder(source, *this);
  builder.AddNodes(filter_percent);
  builder.AddArcs();
  builder.Sort();
}

std::string_view CallGraph::Name(const GraphNode& node) const {
  return node.is_root() ? kAllThreadsName : flat_.rows()[node.row].name;
}

double CallGraph::ShareOf(int64_t part) const {
  return std::clamp(PercentOf(part, whole_) / 100, 0.0, 1.0);
}

std::vector<double> CallGraph::Widths(const ArcWidths& widths, bool by_self) const {
  std::vector<double> result;
  double least = 1;
  for (const GraphArc& arc : arcs_) {
    const double share = result.emplace_back(by_self ? SelfShare(arc) : Share(arc));
    if (share > 0) least = std::min(least, share);
  }
  for (double& width : result) width = ArcWidth(widths, width, least);
  return result;
}

double FirstTimeFilter(std::vector<int64_t> totals, int64_t whole) {
  if (whole <= 0 || totals.size() <= kFunctionsShownAtFirst) return 0;
  const auto nth = totals.begin() + (kFunctionsShownAtFirst - 1);
  std::nth_element(totals.begin(), nth, totals.end(), std::greater<>());
  // A function without any cost passes only filter 0.
  const double steps =
      std::max(1.0, std::ceil(PercentOf(*nth, whole) * kTimeFilterStepsPerPercent - 1e-9));
  const double filter = std::min(steps / kTimeFilterStepsPerPercent, kGreatestTimeFilter);
  const auto shown = std::count_if(totals.begin(), totals.end(), [&](int64_t total) {
    return PercentOf(total, whole) >= filter;
  });
  if (*nth > 0 && shown < kFewestShownAtFirst) return (steps - 1) / kTimeFilterStepsPerPercent;
  return filter;
}

}  // namespace jtrace::postproc
