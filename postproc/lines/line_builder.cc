#include "postproc/lines/line_builder.h"

#include <algorithm>

#include "common/classfile/opcodes.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Counters of threads that still ran may be a few short of each other.
uint64_t AtLeastZero(int64_t count) { return count > 0 ? static_cast<uint64_t>(count) : 0; }

LineCounts& LineOf(MethodLines& lines, int32_t number) {
  const auto at = std::lower_bound(lines.lines.begin(), lines.lines.end(), number,
                                   [](const LineCounts& a, int32_t line) { return a.line < line; });
  if (at != lines.lines.end() && at->line == number) return *at;
  LineCounts line;
  line.line = number;
  return *lines.lines.insert(at, line);
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
  const auto after = std::upper_bound(numbers_.begin(), numbers_.end(), bci,
                                      [](uint32_t at, const auto& row) { return at < row.first; });
  return after == numbers_.begin() ? 0 : std::prev(after)->second;
}

// That of the instruction after a `wide`, which costs nothing itself.
uint8_t LineBuilder::OpcodeAt(uint32_t bci) const {
  const uint8_t opcode = code_.code[bci];
  return opcode == classfile::kOpWide ? code_.code[bci + 1] : opcode;
}

std::string LineBuilder::name() const { return StrCat(method_.name, method_.descriptor); }

std::optional<MethodLines> LineBuilder::Build(absl::Span<const PlacedCount> counters,
                                              absl::Span<const OpenActivations> open,
                                              std::optional<int64_t> calls) const {
  if (!is_valid_) return std::nullopt;
  const std::optional<FlowCounts> flow = SolveFlow(code_, counters, open, calls);
  if (!flow.has_value()) return std::nullopt;
  MethodLines lines;
  lines.source_file = classfile::SourceFileOf(file_);
  lines.calls = AtLeastZero(flow->edges.front());
  for (size_t block = 0; block < flow->graph.blocks.size(); ++block) AddBlock(*flow, block, lines);
  AddBranches(*flow, lines);
  return lines;
}

void LineBuilder::AddBlock(const FlowCounts& flow, size_t block, MethodLines& lines) const {
  const classfile::FlowGraph::Block& it = flow.graph.blocks[block];
  int32_t last = -1;
  for (uint32_t at = it.begin; at < it.end;
       at += static_cast<uint32_t>(classfile::InstructionLength(code_.code, at))) {
    const uint64_t count = AtLeastZero(flow.CountAt(block, at));
    const uint64_t cycles = count * costs_.CyclesOf(OpcodeAt(at));
    lines.instructions += count;
    lines.cycles += cycles;
    const int32_t number = LineAt(at);
    if (number == 0) continue;
    LineCounts& line = LineOf(lines, number);
    line.instructions += count;
    line.cycles += cycles;
    line.executions = std::max(line.executions, count);
    if (number != last) line.blocks.push_back(count);
    last = number;
  }
}

void LineBuilder::AddBranches(const FlowCounts& flow, MethodLines& lines) const {
  const auto& edges = flow.graph.edges;
  for (size_t first = 0; first < edges.size();) {
    size_t after = first;
    uint32_t outcomes = 0, taken = 0;
    for (; after < edges.size() && edges[after].from == edges[first].from; ++after) {
      const bool goes_on = edges[after].kind == classfile::EdgeKind::kFall ||
                           edges[after].kind == classfile::EdgeKind::kJump;
      outcomes += goes_on ? 1 : 0;
      taken += goes_on && flow.edges[after] > 0 ? 1 : 0;
    }
    const uint32_t node = edges[first].from;
    first = after;
    if (node == classfile::FlowGraph::kOutside || outcomes < 2) continue;
    const int32_t number = LineAt(flow.graph.block(node).last);
    if (number == 0) continue;
    LineCounts& line = LineOf(lines, number);
    line.branches += outcomes;
    line.branches_taken += taken;
  }
}

}  // namespace jtrace::postproc
