#include "postproc/lines/flow_solver.h"

#include <algorithm>
#include <map>
#include <utility>

#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

using classfile::CounterKind;
using classfile::CounterPosition;
using classfile::FlowGraph;

std::optional<FlowGraph> GraphOf(const classfile::CodeAttribute& code,
                                 absl::Span<const PlacedCount> counters) {
  std::vector<uint32_t> splits;
  for (const PlacedCount& counter : counters) {
    if (counter.place.kind == CounterKind::kSplit) splits.push_back(counter.place.bci);
  }
  std::sort(splits.begin(), splits.end());
  return classfile::MakeFlowGraph(code, splits);
}

// The graph's edges, and its blocks as edges between the nodes where control arrives and where it
// leaves.
class Solver {
 public:
  explicit Solver(FlowGraph graph)
      : surplus_(2 * graph.blocks.size() + 1),
        unknown_(surplus_.size()),
        edges_of_(surplus_.size()) {
    for (const FlowGraph::Edge& edge : graph.edges) {
      edges_.push_back({Leaves(edge.from), Arrives(edge.to), graph.PositionOf(edge)});
    }
    for (uint32_t node = 1; node <= graph.blocks.size(); ++node) {
      const auto begin = static_cast<uint16_t>(graph.block(node).begin);
      edges_.push_back({Arrives(node), Leaves(node), CounterPosition{CounterKind::kBlock, begin}});
    }
    is_known_.resize(edges_.size());
    counts_.resize(edges_.size());
    result_.graph = std::move(graph);
  }

  bool Solve(absl::Span<const PlacedCount> counters, absl::Span<const OpenActivations> open,
             std::optional<int64_t> entries) {
    if (!TakeLeft(counters, open) || !TakeKnown(counters, entries)) return false;
    Propagate();
    if (std::find(is_known_.begin(), is_known_.end(), 0) != is_known_.end()) return false;
    const auto blocks = counts_.end() - std::ssize(result_.graph.blocks);
    result_.edges.assign(counts_.begin(), blocks);
    result_.blocks.assign(blocks, counts_.end());
    return true;
  }
  FlowCounts Take() { return std::move(result_); }

 private:
  struct Edge {
    uint32_t from, to;
    std::optional<CounterPosition> place;
  };
  static uint32_t Arrives(uint32_t node) { return 2 * node; }
  static uint32_t Leaves(uint32_t node) { return node == FlowGraph::kOutside ? 0 : 2 * node - 1; }

  // What left its block at an instruction came back outside.
  bool TakeLeft(absl::Span<const PlacedCount> counters, absl::Span<const OpenActivations> open) {
    for (const PlacedCount& counter : counters) {
      if (counter.place.kind != CounterKind::kThrow) continue;
      result_.left.push_back({counter.place.bci, counter.count});
    }
    result_.left.insert(result_.left.end(), open.begin(), open.end());
    std::sort(result_.left.begin(), result_.left.end(),
              [](const OpenActivations& a, const OpenActivations& b) { return a.bci < b.bci; });
    for (const OpenActivations& left : result_.left) {
      if (left.bci >= result_.graph.blocks.back().end) return false;
      Move(Leaves(result_.graph.NodeOf(left.bci)), FlowGraph::kOutside, left.count);
    }
    return true;
  }

  // False if a counter is that of no edge.
  bool TakeKnown(absl::Span<const PlacedCount> counters, std::optional<int64_t> entries) {
    const auto key = [](const CounterPosition& place) { return std::pair(place.bci, place.kind); };
    std::map<std::pair<uint16_t, CounterKind>, int64_t> left;
    for (const PlacedCount& counter : counters) {
      const CounterKind kind = counter.place.kind;
      if (kind != CounterKind::kThrow && kind != CounterKind::kSplit) {
        left[key(counter.place)] = counter.count;
      }
    }
    for (size_t i = 0; i < edges_.size(); ++i) {
      const auto found = edges_[i].place ? left.find(key(*edges_[i].place)) : left.end();
      if (found != left.end()) {
        SetKnown(i, found->second);
        left.erase(found);
      } else if (i == kEntry && entries.has_value()) {
        SetKnown(i, *entries);
      } else {
        AddUnknown(i);
      }
    }
    return left.empty();
  }

  void SetKnown(size_t edge, int64_t count) {
    is_known_[edge] = 1;
    counts_[edge] = count;
    Move(edges_[edge].from, edges_[edge].to, count);
  }
  // Damaged traces have any numbers.
  void Move(uint32_t from, uint32_t to, int64_t count) {
    surplus_[from] = WrapSub(surplus_[from], count);
    surplus_[to] = WrapAdd(surplus_[to], count);
  }
  void AddUnknown(size_t edge) {
    for (const uint32_t node : {edges_[edge].from, edges_[edge].to}) {
      ++unknown_[node];
      edges_of_[node].push_back(static_cast<uint32_t>(edge));
    }
  }

  // What arrives at a node leaves it: so its only unknown edge has the rest.
  void Propagate() {
    std::vector<uint32_t> ready;
    for (uint32_t node = 0; node < unknown_.size(); ++node) {
      if (unknown_[node] == 1) ready.push_back(node);
    }
    while (!ready.empty()) {
      const uint32_t node = ready.back();
      ready.pop_back();
      if (unknown_[node] != 1) continue;
      uint32_t edge = 0;
      for (const uint32_t candidate : edges_of_[node]) {
        if (is_known_[candidate] == 0) edge = candidate;
      }
      SetKnown(edge, edges_[edge].from == node ? surplus_[node] : WrapSub(0, surplus_[node]));
      for (const uint32_t end : {edges_[edge].from, edges_[edge].to}) {
        if (--unknown_[end] == 1) ready.push_back(end);
      }
    }
  }

  static constexpr size_t kEntry = 0;  // MakeFlowGraph adds it first

  FlowCounts result_;
  std::vector<Edge> edges_;
  std::vector<int64_t> counts_;    // by edge
  std::vector<uint8_t> is_known_;  // by edge
  std::vector<int64_t> surplus_;   // by node: known to arrive, less what is known to leave
  std::vector<uint32_t> unknown_;  // by node: edges that are not known yet
  std::vector<std::vector<uint32_t>> edges_of_;
};

}  // namespace

int64_t FlowCounts::CountAt(size_t block, uint32_t bci) const {
  int64_t count = blocks[block];
  const auto first =
      std::lower_bound(left.begin(), left.end(), graph.blocks[block].begin,
                       [](const OpenActivations& a, uint32_t begin) { return a.bci < begin; });
  for (auto it = first; it != left.end() && it->bci < bci; ++it) {
    count = WrapSub(count, it->count);
  }
  return count;
}

std::optional<FlowCounts> SolveFlow(const classfile::CodeAttribute& code,
                                    absl::Span<const PlacedCount> counters,
                                    absl::Span<const OpenActivations> open,
                                    std::optional<int64_t> entries) {
  std::optional<FlowGraph> graph = GraphOf(code, counters);
  if (!graph.has_value()) return std::nullopt;
  Solver solver(*std::move(graph));
  if (!solver.Solve(counters, open, entries)) return std::nullopt;
  return solver.Take();
}

}  // namespace jtrace::postproc
