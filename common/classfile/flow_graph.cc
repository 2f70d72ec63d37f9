#include "common/classfile/flow_graph.h"

#include <algorithm>
#include <utility>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

bool IsSwitch(uint8_t opcode) { return opcode == kOpTableswitch || opcode == kOpLookupswitch; }

}  // namespace

// Makes one graph.
class FlowGraphBuilder {
 public:
  explicit FlowGraphBuilder(const CodeAttribute& code) : code_(code) {}

  bool Build(absl::Span<const uint32_t> splits) {
    if (!FindLeaders(splits)) return false;
    MakeBlocks();
    if (graph_.blocks.back().falls) return false;
    MakeEdges(splits);
    return true;
  }
  FlowGraph Take() { return std::move(graph_); }

 private:
  enum Mark : uint8_t { kStart = 1, kLeader = 2, kHandler = 4 };

  template <typename F>
  bool ForEachTarget(uint32_t bci, F&& f) const {
    const Bytes code = code_.code;
    const auto visit = [&](int64_t target) {
      if (target < 0 || target >= std::ssize(code)) return false;
      f(static_cast<uint32_t>(target));
      return true;
    };
    const uint8_t* operand = code.data() + bci + 1;
    switch (KindOf(code[bci])) {
      case OperandKind::kBranch16:
        return visit(int64_t{bci} + static_cast<int16_t>(LoadU2(operand)));
      case OperandKind::kBranch32:
        return visit(int64_t{bci} + static_cast<int32_t>(LoadU4(operand)));
      case OperandKind::kSwitch: {
        const SwitchTable table = ParseSwitch(code, bci);
        const auto at = [&](size_t offset) {
          return visit(int64_t{bci} + static_cast<int32_t>(LoadU4(code.data() + offset)));
        };
        bool valid = at(table.operands);
        for (size_t i = 0; i < table.count; ++i) valid &= at(table.first + i * table.stride);
        return valid;
      }
      default:
        return true;
    }
  }

  bool FindLeaders(absl::Span<const uint32_t> splits) {
    const Bytes code = code_.code;
    marks_.assign(code.size() + 1, 0);
    if (code.empty()) return false;
    marks_[0] = kLeader;
    for (uint32_t at = 0; at < code.size();) {
      const auto length = static_cast<uint32_t>(InstructionLength(code, at));
      if (length == 0) return false;
      const uint8_t opcode = code[at];
      if (opcode == kOpJsr || opcode == kOpJsrW || opcode == kOpRet ||
          (opcode == kOpWide && code[at + 1] == kOpRet)) {
        return false;
      }
      marks_[at] |= kStart;
      if (!ForEachTarget(at, [&](uint32_t target) { marks_[target] |= kLeader; })) return false;
      if (KindOf(opcode) != OperandKind::kPlain && KindOf(opcode) != OperandKind::kWide) {
        marks_[at + length] |= kLeader;
      }
      if (IsReturn(opcode) || opcode == kOpAthrow) marks_[at + length] |= kLeader;
      at += length;
    }
    for (const uint32_t bci : splits) {
      if (bci >= code.size() || (marks_[bci] & kStart) == 0) return false;
      marks_[bci + InstructionLength(code, bci)] |= kLeader;
    }
    for (const ExceptionRow& row : code_.exceptions) {
      if (row.handler >= code.size()) return false;
      marks_[row.handler] |= kLeader | kHandler;
    }
    marks_[code.size()] = kStart | kLeader;
    return std::all_of(marks_.begin(), marks_.end(),
                       [](uint8_t mark) { return (mark & kLeader) == 0 || (mark & kStart) != 0; });
  }

  void MakeBlocks() {
    const Bytes code = code_.code;
    for (uint32_t at = 0; at < code.size();) {
      if ((marks_[at] & kLeader) != 0) {
        graph_.blocks.push_back({.begin = at, .is_handler = (marks_[at] & kHandler) != 0});
      }
      FlowGraph::Block& block = graph_.blocks.back();
      const uint8_t opcode = code[at];
      block.last = at;
      block.falls = opcode != kOpGoto && opcode != kOpGotoW && opcode != kOpAthrow &&
                    !IsReturn(opcode) && !IsSwitch(opcode);
      at += static_cast<uint32_t>(InstructionLength(code, at));
      block.end = at;
    }
  }

  void Add(uint32_t from, uint32_t to, EdgeKind kind) { graph_.edges.push_back({from, to, kind}); }

  void MakeEdges(absl::Span<const uint32_t> splits) {
    Add(FlowGraph::kOutside, 1, EdgeKind::kEntry);
    for (uint32_t node = 1; node <= graph_.blocks.size(); ++node) {
      const FlowGraph::Block& block = graph_.block(node);
      if (block.is_handler) Add(FlowGraph::kOutside, node, EdgeKind::kHandler);
      targets_.clear();
      ForEachTarget(block.last,
                    [&](uint32_t target) { targets_.push_back(graph_.NodeOf(target)); });
      std::sort(targets_.begin(), targets_.end());
      targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
      for (const uint32_t target : targets_) Add(node, target, EdgeKind::kJump);
      if (block.falls && !std::binary_search(targets_.begin(), targets_.end(), node + 1)) {
        Add(node, node + 1, EdgeKind::kFall);
      }
      if (IsReturn(code_.code[block.last])) Add(node, FlowGraph::kOutside, EdgeKind::kReturn);
      if (std::binary_search(splits.begin(), splits.end(), block.last)) {
        Add(node, FlowGraph::kOutside, EdgeKind::kThrow);
      }
    }
  }

  const CodeAttribute& code_;
  FlowGraph graph_;
  std::vector<uint8_t> marks_;
  std::vector<uint32_t> targets_;
};

uint32_t FlowGraph::NodeOf(uint32_t bci) const {
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), bci,
                                      [](uint32_t at, const Block& b) { return at < b.begin; });
  return static_cast<uint32_t>(after - blocks.begin());
}

std::optional<CounterPosition> FlowGraph::PositionOf(const Edge& edge) const {
  if (edge.kind != EdgeKind::kEntry && edge.kind != EdgeKind::kFall) return std::nullopt;
  return CounterPosition{CounterKind::kFall, static_cast<uint16_t>(block(edge.to).begin)};
}

std::optional<FlowGraph> MakeFlowGraph(const CodeAttribute& code,
                                       absl::Span<const uint32_t> splits) {
  FlowGraphBuilder builder(code);
  if (!builder.Build(splits)) return std::nullopt;
  return builder.Take();
}

}  // namespace jtrace::classfile
