#include "postproc/lines/line_builder.h"

#include <algorithm>

#include "common/classfile/disassembly.h"
#include "common/classfile/opcodes.h"
#include "common/visible_text.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Counters of threads that still ran may be a few short of each other.
uint64_t AtLeastZero(int64_t count) { return count > 0 ? static_cast<uint64_t>(count) : 0; }

// The outcomes of the jump or switch at the end of a block, and how many of them occurred.
struct Outcomes {
  uint32_t node = 0;
  uint32_t all = 0;
  uint32_t taken = 0;
};

// Of all blocks with several outcomes.
std::vector<Outcomes> OutcomesOf(const FlowCounts& flow) {
  const auto& edges = flow.graph.edges;
  std::vector<Outcomes> found;
  for (size_t first = 0; first < edges.size();) {
    Outcomes outcomes{edges[first].from};
    size_t after = first;
    for (; after < edges.size() && edges[after].from == outcomes.node; ++after) {
      const bool goes_on = edges[after].kind == classfile::EdgeKind::kFall ||
                           edges[after].kind == classfile::EdgeKind::kJump;
      outcomes.all += goes_on ? 1 : 0;
      outcomes.taken += goes_on && flow.edges[after] > 0 ? 1 : 0;
    }
    first = after;
    if (outcomes.node != classfile::FlowGraph::kOutside && outcomes.all >= 2) {
      found.push_back(outcomes);
    }
  }
  return found;
}

}  // namespace

LineBuilder::LineBuilder(const classfile::ClassFile& file, size_t method,
                         const InstructionCosts& costs)
    : file_(file), method_(file.methods[method]), costs_(costs) {
  const classfile::Bytes attribute =
      file.bytes.subspan(method_.code_begin, method_.code_end - method_.code_begin);
  is_valid_ = method_.has_code() && code_.Parse(attribute, file.pool);
  if (!is_valid_) return;
  for (const classfile::CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == classfile::CodeTable::kLineNumbers) ReadLineNumbers(sub.body);
  }
  std::sort(numbers_.begin(), numbers_.end());
}

void LineBuilder::ReadLineNumbers(classfile::Bytes body) {
  classfile::ByteReader reader(body);
  for (uint32_t left = reader.U2(); left > 0 && reader.ok(); --left) {
    const uint32_t bci = reader.U2();
    const int32_t line = reader.U2();
    if (reader.ok()) numbers_.emplace_back(bci, line);
  }
}

int32_t LineBuilder::LineAt(uint32_t bci) const {
  if (bci >= code_.code.size()) return 0;
  const auto after = std::upper_bound(numbers_.begin(), numbers_.end(), bci,
                                      [](uint32_t at, const auto& row) { return at < row.first; });
  return after == numbers_.begin() ? 0 : std::prev(after)->second;
}

std::string LineBuilder::name() const { return StrCat(method_.name, method_.descriptor); }

std::optional<FlowCounts> LineBuilder::Solve(const MethodCounts& counts) const {
  if (!is_valid_) return std::nullopt;
  return SolveFlow(code_, counts.counters, counts.open, counts.calls);
}

MethodLines LineBuilder::LinesOf(const FlowCounts& flow) const {
  MethodLines lines;
  lines.source_file = FromModifiedUtf8(std::string(classfile::SourceFileOf(file_)));
  lines.descriptor = FromModifiedUtf8(std::string(method_.descriptor));
  lines.calls = AtLeastZero(flow.edges.front());
  for (size_t block = 0; block < flow.graph.blocks.size(); ++block) AddBlock(flow, block, lines);
  AddBranches(flow, lines);
  return lines;
}

std::optional<MethodLines> LineBuilder::Build(const MethodCounts& counts) const {
  const std::optional<FlowCounts> flow = Solve(counts);
  if (!flow.has_value()) return std::nullopt;
  return LinesOf(*flow);
}

std::optional<MethodLines> LineBuilder::BuildNeverRun() const {
  if (!is_valid_) return std::nullopt;
  std::optional<classfile::FlowGraph> graph = classfile::MakeFlowGraph(code_, {});
  if (!graph.has_value()) return std::nullopt;
  FlowCounts flow;
  flow.graph = *std::move(graph);
  flow.blocks.assign(flow.graph.blocks.size(), 0);
  flow.edges.assign(flow.graph.edges.size(), 0);
  return LinesOf(flow);
}

std::optional<MethodCode> LineBuilder::Code(const MethodCounts& counts) const {
  const std::optional<FlowCounts> flow = Solve(counts);
  if (!flow.has_value()) return std::nullopt;
  MethodCode code;
  std::vector<size_t> last;  // by block: its last instruction
  for (size_t block = 0; block < flow->graph.blocks.size(); ++block) {
    const classfile::FlowGraph::Block& it = flow->graph.blocks[block];
    for (uint32_t at = it.begin; at < it.end;
         at += static_cast<uint32_t>(classfile::InstructionLength(code_.code, at))) {
      InstructionCounts& instruction = code.instructions.emplace_back();
      instruction.bci = at;
      instruction.line = LineAt(at);
      instruction.mnemonic = classfile::Mnemonic(code_.code, at);
      instruction.operands = FromModifiedUtf8(classfile::OperandText(file_, code_.code, at));
      instruction.count = AtLeastZero(flow->CountAt(block, at));
      instruction.cycles = instruction.count * costs_.CyclesAt(code_.code, at);
    }
    last.push_back(code.instructions.size() - 1);
  }
  for (const Outcomes& outcomes : OutcomesOf(*flow)) {
    InstructionCounts& jump = code.instructions[last[outcomes.node - 1]];
    jump.branches = outcomes.all;
    jump.branches_taken = outcomes.taken;
  }
  return code;
}

void LineBuilder::AddBlock(const FlowCounts& flow, size_t block, MethodLines& lines) const {
  const classfile::FlowGraph::Block& it = flow.graph.blocks[block];
  int32_t last = -1;
  for (uint32_t at = it.begin; at < it.end;
       at += static_cast<uint32_t>(classfile::InstructionLength(code_.code, at))) {
    const uint64_t count = AtLeastZero(flow.CountAt(block, at));
    const uint64_t cycles = count * costs_.CyclesAt(code_.code, at);
    lines.instructions += count;
    lines.cycles += cycles;
    const int32_t number = LineAt(at);
    if (number == 0) continue;
    LineCounts& line = LineOf(lines.lines, number);
    line.instructions += count;
    line.cycles += cycles;
    line.executions = std::max(line.executions, count);
    if (number != last) line.blocks.push_back(count);
    last = number;
  }
}

void LineBuilder::AddBranches(const FlowCounts& flow, MethodLines& lines) const {
  for (const Outcomes& outcomes : OutcomesOf(flow)) {
    const int32_t number = LineAt(flow.graph.block(outcomes.node).last);
    if (number == 0) continue;
    LineCounts& line = LineOf(lines.lines, number);
    line.branches += outcomes.all;
    line.branches_taken += outcomes.taken;
  }
}

}  // namespace jtrace::postproc
