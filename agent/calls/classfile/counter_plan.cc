#include "agent/calls/classfile/counter_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// Sets of nodes that the spanning tree connects so far.
class NodeSets {
 public:
  explicit NodeSets(size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  // False if they were connected.
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  uint32_t Find(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::vector<uint32_t> parent_;
};

// Estimates how often edges and blocks run.
class Weights {
 public:
  Weights(const FlowGraph& graph, Bytes code)
      : graph_(graph), depth_(graph.blocks.size() + 1), is_cold_(graph.blocks.size() + 1, 1) {
    MarkLoops();
    MarkReachedNormally();
    for (uint32_t node = 1; node < depth_.size(); ++node) {
      if (code[graph.block(node).last] == kOpAthrow) is_cold_[node] = 1;
    }
  }

  uint64_t OfEdge(const FlowGraph::Edge& edge) const {
    if (!graph_.PositionOf(edge)) return std::numeric_limits<uint64_t>::max();
    if (is_cold_[edge.from] != 0 || is_cold_[edge.to] != 0) return 1;
    return Usual(std::min(depth_[edge.from], depth_[edge.to]));
  }
  uint64_t OfBlock(uint32_t node) const {
    return is_cold_[node] != 0 ? 1 : Usual(depth_[node]) + 1;
  }

 private:
  static uint64_t Usual(uint32_t depth) {
    constexpr uint32_t kLoopShift = 3;
    constexpr uint32_t kMaxDepth = 15;
    constexpr uint64_t kOnce = 4;
    return kOnce << (kLoopShift * std::min(depth, kMaxDepth));
  }
  // A jump back, and everything between it and its target, is a loop.
  void MarkLoops() {
    for (const FlowGraph::Edge& edge : graph_.edges) {
      if (edge.kind != EdgeKind::kJump || edge.to > edge.from) continue;
      for (uint32_t node = edge.to; node <= edge.from; ++node) ++depth_[node];
    }
  }
  // Marks the blocks that are reached without an exception as not cold. Edges are in the order of
  // their origins, so that only jumps back need another round.
  void MarkReachedNormally() {
    is_cold_[FlowGraph::kOutside] = is_cold_[1] = 0;
    for (bool again = true; again;) {
      again = false;
      for (const FlowGraph::Edge& edge : graph_.edges) {
        if (edge.from == FlowGraph::kOutside || is_cold_[edge.from] != 0) continue;
        again |= is_cold_[edge.to] != 0 && edge.to < edge.from;
        is_cold_[edge.to] = 0;
      }
    }
  }

  const FlowGraph& graph_;
  std::vector<uint32_t> depth_;
  std::vector<uint8_t> is_cold_;
};

}  // namespace

std::optional<CounterPlan> PlanCounters(const CodeAttribute& code,
                                        absl::Span<const uint32_t> thrown,
                                        absl::Span<const uint32_t> splits, bool count_entry) {
  const std::optional<FlowGraph> graph = MakeFlowGraph(code, splits);
  if (!graph.has_value()) return std::nullopt;
  const Weights weights(*graph, code.code);
  // A block is an edge, too: from the node where control arrives to the node where it leaves.
  struct Candidate {
    uint64_t weight;
    uint32_t from, to;
    std::optional<CounterPosition> position;
  };
  const auto arrives = [](uint32_t node) { return 2 * node; };
  const auto leaves = [](uint32_t node) { return node == 0 ? 0 : 2 * node - 1; };
  CounterPlan plan;
  std::vector<Candidate> edges;
  for (const FlowGraph::Edge& edge : graph->edges) {
    if (edge.kind == EdgeKind::kEntry) {
      if (count_entry) plan.positions.push_back(*graph->PositionOf(edge));
      continue;
    }
    edges.push_back(
        {weights.OfEdge(edge), leaves(edge.from), arrives(edge.to), graph->PositionOf(edge)});
  }
  for (uint32_t node = 1; node <= graph->blocks.size(); ++node) {
    const auto begin = static_cast<uint16_t>(graph->block(node).begin);
    edges.push_back({weights.OfBlock(node), arrives(node), leaves(node),
                     CounterPosition{CounterKind::kBlock, begin}});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
  plan.blocks = static_cast<uint32_t>(graph->blocks.size() - splits.size());
  NodeSets connected(2 * graph->blocks.size() + 1);
  for (const Candidate& edge : edges) {
    if (connected.Join(edge.from, edge.to)) continue;
    if (!edge.position.has_value()) return std::nullopt;
    plan.positions.push_back(*edge.position);
  }
  for (const uint32_t bci : thrown) {
    plan.positions.push_back({CounterKind::kThrow, static_cast<uint16_t>(bci)});
  }
  plan.throws = static_cast<uint32_t>(thrown.size());
  plan.counters = static_cast<uint32_t>(plan.positions.size());
  for (const uint32_t bci : splits) {
    plan.positions.push_back({CounterKind::kSplit, static_cast<uint16_t>(bci)});
  }
  std::sort(plan.positions.begin(), plan.positions.end(), Before);
  return plan;
}

}  // namespace jtrace::classfile
