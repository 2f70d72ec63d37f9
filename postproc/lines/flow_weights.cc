#include "postproc/lines/flow_weights.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/classfile/opcodes.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

using classfile::CounterKind;
using classfile::CounterPosition;
using classfile::FlowGraph;

FlowCost Difference(const FlowCost& a, const FlowCost& b) {
  return {WrapSub(a.instructions, b.instructions), WrapSub(a.cycles, b.cycles)};
}

FlowCost Sum(const FlowCost& a, const FlowCost& b) {
  return {WrapAdd(a.instructions, b.instructions), WrapAdd(a.cycles, b.cycles)};
}

// An edge of the graph, or a block as an edge between where control arrives and where it leaves.
struct WeighedEdge {
  uint32_t from, to;
  std::optional<CounterPosition> place;
  FlowCost cost;
};

uint32_t Arriving(uint32_t node) { return 2 * node; }
uint32_t LeavingOf(uint32_t node) { return node == FlowGraph::kOutside ? 0 : 2 * node - 1; }

// Heights of the nodes such that each edge without a counter leads up by its cost. What circles
// climbs as much as it descends: so Σ cost x count over all edges is that over the edges with
// counters, each with its cost less its climb. Empty: edges without counters make a circle.
std::vector<FlowCost> Heights(size_t nodes, const std::vector<WeighedEdge>& tree) {
  std::vector<std::vector<const WeighedEdge*>> edges_of(nodes);
  for (const WeighedEdge& edge : tree) {
    edges_of[edge.from].push_back(&edge);
    edges_of[edge.to].push_back(&edge);
  }
  std::vector<FlowCost> heights(nodes);
  std::vector<uint8_t> is_known(nodes);
  std::vector<const WeighedEdge*> by(nodes);
  std::vector<uint32_t> next;
  for (uint32_t root = 0; root < nodes; ++root) {
    if (is_known[root] != 0) continue;
    is_known[root] = 1;
    next.push_back(root);
    while (!next.empty()) {
      const uint32_t node = next.back();
      next.pop_back();
      for (const WeighedEdge* edge : edges_of[node]) {
        if (edge == by[node]) continue;
        const uint32_t other = edge->from == node ? edge->to : edge->from;
        if (is_known[other] != 0) return {};
        is_known[other] = 1;
        by[other] = edge;
        heights[other] = edge->from == node ? Sum(heights[node], edge->cost)
                                            : Difference(heights[node], edge->cost);
        next.push_back(other);
      }
    }
  }
  return heights;
}

// The edges of the graph, and its blocks. `rest` gets what each instruction costs with those after
// it in its block.
std::vector<WeighedEdge> EdgesOf(const FlowGraph& graph, const classfile::CodeAttribute& code,
                                 const InstructionCosts& costs,
                                 std::vector<std::pair<uint32_t, FlowCost>>& rest) {
  std::vector<WeighedEdge> edges;
  for (const FlowGraph::Edge& edge : graph.edges) {
    edges.push_back({LeavingOf(edge.from), Arriving(edge.to), graph.PositionOf(edge), {}});
  }
  for (uint32_t node = 1; node <= graph.blocks.size(); ++node) {
    const FlowGraph::Block& block = graph.block(node);
    FlowCost cost;
    for (uint32_t at = block.begin; at < block.end;
         at += static_cast<uint32_t>(classfile::InstructionLength(code.code, at))) {
      cost.AddTimes({1, costs.CyclesAt(code.code, at)}, 1);
      rest.emplace_back(at, cost);
    }
    for (auto it = rest.rbegin(); it != rest.rend() && it->first >= block.begin; ++it) {
      it->second = Difference(cost, it->second);
    }
    edges.push_back({Arriving(node), LeavingOf(node),
                     CounterPosition{CounterKind::kBlock, static_cast<uint16_t>(block.begin)},
                     cost});
  }
  return edges;
}

}  // namespace

void FlowCost::AddTimes(const FlowCost& each, int64_t count) {
  const auto times = [&](int64_t value) {
    return static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(count));
  };
  instructions = WrapAdd(instructions, times(each.instructions));
  cycles = WrapAdd(cycles, times(each.cycles));
}

std::optional<FlowWeights> FlowWeights::Make(const classfile::CodeAttribute& code,
                                             absl::Span<const CounterPosition> places,
                                             const InstructionCosts& costs) {
  std::vector<uint32_t> splits;
  for (const CounterPosition& place : places) {
    if (place.kind == CounterKind::kSplit) splits.push_back(place.bci);
  }
  std::sort(splits.begin(), splits.end());
  std::optional<FlowGraph> made = classfile::MakeFlowGraph(code, splits);
  if (!made.has_value()) return std::nullopt;
  FlowWeights weights(*std::move(made));
  const FlowGraph& graph = weights.graph_;

  const std::vector<WeighedEdge> edges = EdgesOf(graph, code, costs, weights.rest_);
  std::map<std::pair<uint16_t, CounterKind>, size_t> counted;
  for (size_t i = 0; i < places.size(); ++i) {
    const CounterKind kind = places[i].kind;
    if (kind == CounterKind::kBlock || kind == CounterKind::kFall) {
      counted[{places[i].bci, kind}] = i;
    }
  }
  constexpr size_t kCall = SIZE_MAX;
  std::vector<WeighedEdge> tree;
  std::vector<std::pair<size_t, WeighedEdge>> known;  // by place, or kCall
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto found =
        edges[i].place ? counted.find({edges[i].place->bci, edges[i].place->kind}) : counted.end();
    if (found != counted.end()) {
      known.emplace_back(found->second, edges[i]);
      counted.erase(found);
    } else if (i == 0) {
      known.emplace_back(kCall, edges[i]);  // MakeFlowGraph adds the entry first
    } else {
      tree.push_back(edges[i]);
    }
  }
  if (!counted.empty()) return std::nullopt;
  const std::vector<FlowCost> heights = Heights(2 * graph.blocks.size() + 1, tree);
  if (heights.empty()) return std::nullopt;

  weights.places_.resize(places.size());
  for (const auto& [place, edge] : known) {
    const FlowCost weight = Difference(edge.cost, Difference(heights[edge.to], heights[edge.from]));
    (place == kCall ? weights.call_ : weights.places_[place]) = weight;
  }
  weights.leaving_.resize(graph.blocks.size() + 1);
  for (uint32_t node = 1; node <= graph.blocks.size(); ++node) {
    weights.leaving_[node] = Difference(heights[LeavingOf(node)], heights[FlowGraph::kOutside]);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].kind != CounterKind::kThrow) continue;
    if (places[i].bci >= graph.blocks.back().end) return std::nullopt;
    weights.places_[i] = weights.Open(places[i].bci);
  }
  return weights;
}

// The rest of the block did not run, and control came back outside.
FlowCost FlowWeights::Open(uint32_t bci) const {
  if (bci >= graph_.blocks.back().end) return {};
  const auto after =
      std::upper_bound(rest_.begin(), rest_.end(), bci,
                       [](uint32_t at, const auto& instruction) { return at < instruction.first; });
  return Difference(leaving_[graph_.NodeOf(bci)], std::prev(after)->second);
}

}  // namespace jtrace::postproc
