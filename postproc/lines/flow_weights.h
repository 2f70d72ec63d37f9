// What the counters of a method say of its cost, as one sum.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"
#include "postproc/lines/instruction_costs.h"

namespace jtrace::postproc {

// Instructions executed, and their cycles.
struct FlowCost {
  int64_t instructions = 0;
  int64_t cycles = 0;

  void AddTimes(const FlowCost& each, int64_t count);
};

// All counts follow from the counters by additions and subtractions (SolveFlow). So the cost of a
// method is Σ weight x count, with weights that depend only on its code: what is solved once for
// the method holds at each call path, and the sums over paths are those of the whole, exactly.
class FlowWeights {
 public:
  // `places`: of the counters, in their order. None: they do not belong to this code.
  static std::optional<FlowWeights> Make(const classfile::CodeAttribute& code,
                                         absl::Span<const classfile::CounterPosition> places,
                                         const InstructionCosts& costs);

  // Of one more call, where no counter has them.
  const FlowCost& call() const { return call_; }
  // Of one more of a counter, by place; nothing for a kSplit.
  absl::Span<const FlowCost> places() const { return places_; }
  // Of one more activation that has begun the instruction at `bci`, and not left it.
  FlowCost Open(uint32_t bci) const;

 private:
  explicit FlowWeights(classfile::FlowGraph graph) : graph_(std::move(graph)) {}

  classfile::FlowGraph graph_;
  FlowCost call_;
  std::vector<FlowCost> places_;
  // By node of the graph: of what leaves it.
  std::vector<FlowCost> leaving_;
  // Instructions in the order of their bcis: the cost of the rest of the block.
  std::vector<std::pair<uint32_t, FlowCost>> rest_;
};

}  // namespace jtrace::postproc
