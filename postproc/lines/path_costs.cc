#include "postproc/lines/path_costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "common/classfile/class_file.h"
#include "postproc/lines/flow_weights.h"

namespace jtrace::postproc {
namespace {

int64_t Clamped(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

// The weights of each code, made when a node first needs them.
class WeightsOfCode {
 public:
  WeightsOfCode(const BlockLog& log, const InstructionCosts& costs) : log_(log), costs_(costs) {}

  // Null: the counters do not belong to the code.
  const FlowWeights* Of(uint32_t trace, uint32_t number) {
    const auto [entry, is_new] = known_.try_emplace({trace, number});
    if (is_new) entry->second = Make(trace, number);
    return entry->second.has_value() ? &*entry->second : nullptr;
  }

 private:
  std::optional<FlowWeights> Make(uint32_t trace, uint32_t number) {
    const BlockLog::Code* code = log_.CodeOf(trace, number);
    if (code == nullptr) return std::nullopt;
    const absl::StatusOr<classfile::ClassFile>& file = FileOf(code->class_code);
    if (!file.ok() || code->method >= file->methods.size()) return std::nullopt;
    const classfile::MethodInfo& method = file->methods[code->method];
    classfile::CodeAttribute attribute;
    if (!method.has_code() ||
        !attribute.Parse(
            file->bytes.subspan(method.code_begin, method.code_end - method.code_begin),
            file->pool)) {
      return std::nullopt;
    }
    return FlowWeights::Make(attribute, code->places, costs_);
  }
  const absl::StatusOr<classfile::ClassFile>& FileOf(size_t class_code) {
    const auto [entry, is_new] = files_.try_emplace(class_code, absl::UnknownError(""));
    if (is_new) entry->second = classfile::ParseClassFile(log_.ClassBytes(class_code));
    return entry->second;
  }

  const BlockLog& log_;
  const InstructionCosts& costs_;
  std::map<size_t, absl::StatusOr<classfile::ClassFile>> files_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, std::optional<FlowWeights>> known_;
};

FlowCost CostOf(const NodeBlocks& blocks, const FlowWeights& weights) {
  FlowCost cost;
  cost.AddTimes(weights.call(), blocks.calls);
  for (const auto& [place, count] : blocks.counts) {
    if (place < weights.places().size()) cost.AddTimes(weights.places()[place], count);
  }
  for (const auto& [bci, count] : blocks.open) cost.AddTimes(weights.Open(bci), count);
  return cost;
}

void AddCost(NodeId node, const FlowCost& cost, TraceModel& model, TreeBuilder& builder) {
  if (cost.instructions != 0) {
    builder.AddMetric(node, model.InternMetric(kBytecodes), cost.instructions);
  }
  if (cost.cycles != 0) builder.AddMetric(node, model.InternMetric(kCycles), cost.cycles);
}

}  // namespace

void AddPathCosts(const BlockLog& log, const InstructionCosts& costs, TraceModel& model,
                  TreeBuilder& builder) {
  WeightsOfCode weights(log, costs);
  for (const PlacedBlocks& placed : builder.blocks()) {
    const FlowWeights* code = weights.Of(placed.trace, placed.blocks.code);
    if (code != nullptr) AddCost(placed.node, CostOf(placed.blocks, *code), model, builder);
  }
}

void AddMethodCosts(const LineProfile& lines, TraceModel& model, TreeBuilder& builder) {
  for (const MethodLines& method : lines.methods) {
    if (method.instructions == 0 || !method.routine) continue;
    AddCost(builder.NodeWithoutPath(method.routine),
            {Clamped(method.instructions), Clamped(method.cycles)}, model, builder);
  }
}

}  // namespace jtrace::postproc
