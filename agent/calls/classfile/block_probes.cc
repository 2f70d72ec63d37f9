#include "agent/calls/classfile/block_probes.h"

#include <algorithm>

#include "agent/calls/classfile/bytecode_analysis.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

constexpr uint32_t kGotoSize = 3;
constexpr uint32_t kCallSize = 3;

bool IsConstructor(const BlockInput& input) {
  return input.method.name == "<init>" && !input.file.super_name.empty();
}

}  // namespace

bool BlockProbes::Plan(const BlockInput& input, ConstantPoolBuilder& pool) {
  by_path_ = input.by_path;
  throw_size_ = input.rethrow_size;
  groups_.clear();
  handler_positions_.clear();
  const std::optional<FlowGraph> graph = MakeFlowGraph(input.code, {});
  if (!graph.has_value()) return false;
  points_ = ThrowingPoints(input.file, input.method, input.code, *graph);
  if (!CheckHandlers(input, *graph) || !ReadHandlerLocals(input, pool)) return false;
  uint32_t from = 0;
  if (IsConstructor(input)) {
    const auto end = EndOfSuperCall(input.file, input.code, input.editor);
    from = end.value_or(static_cast<uint32_t>(input.code.code.size()));
  }
  std::vector<uint32_t> thrown, splits;
  for (const uint32_t point : points_) {
    const bool counts = point >= from && AddToGroup(input, point);
    (counts ? thrown : splits).push_back(point);
  }
  auto plan = PlanCounters(input.code, thrown, splits, input.count_entry);
  if (!plan.has_value()) return false;
  plan_ = *std::move(plan);
  IndexCounters();
  return true;
}

// The counter of a handler that covers its own first instructions goes after them. It counts the
// block only if they belong to the block and cannot throw.
bool BlockProbes::CheckHandlers(const BlockInput& input, const FlowGraph& graph) {
  for (const ExceptionRow& row : input.code.exceptions) {
    const uint32_t position = HandlerProbeBci(row.handler, input.code);
    if (graph.NodeOf(position) != graph.NodeOf(row.handler)) return false;
    const auto point = std::lower_bound(points_.begin(), points_.end(), row.handler);
    if (point != points_.end() && *point < position) return false;
    handler_positions_.emplace_back(row.handler, position);
  }
  return true;
}

bool BlockProbes::ReadHandlerLocals(const BlockInput& input, ConstantPoolBuilder& pool) {
  handler_locals_.clear();
  if (input.stack_map.empty()) return true;
  StackFrameReader reader;
  if (reader.Begin(input.stack_map, input.frames, pool) != Reason::kNone) return false;
  while (reader.Next()) {
    const auto is_here = [&](const ExceptionRow& row) { return row.handler == reader.bci(); };
    if (std::any_of(input.code.exceptions.begin(), input.code.exceptions.end(), is_here)) {
      handler_locals_.push_back({static_cast<uint32_t>(reader.bci()), reader.locals()});
    }
  }
  return reader.AtEnd();
}

bool BlockProbes::AddToGroup(const BlockInput& input, uint32_t point) {
  std::vector<ExceptionRow> rows;
  for (const ExceptionRow& row : input.code.exceptions) {
    if (row.start <= point && point < row.end) rows.push_back(row);
  }
  const auto handles_same = [](const ExceptionRow& a, const ExceptionRow& b) {
    return a.handler == b.handler && a.catch_type == b.catch_type;
  };
  const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) {
    return std::equal(rows.begin(), rows.end(), known.rows.begin(), known.rows.end(), handles_same);
  });
  if (group != groups_.end()) {
    group->points.push_back(point);
    return true;
  }
  auto locals = LocalsFor(input, rows);
  if (!locals.has_value()) return false;
  groups_.push_back({std::move(rows), *std::move(locals), {point}, {}});
  return true;
}

// Returns locals that the frames of all handlers accept, so that each covered instruction has them.
std::optional<std::vector<VerificationType>> BlockProbes::LocalsFor(
    const BlockInput& input, absl::Span<const ExceptionRow> rows) const {
  std::vector<VerificationType> locals;
  if (rows.empty() || !input.needs_frames) return locals;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found =
        std::find_if(handler_locals_.begin(), handler_locals_.end(),
                     [&](const HandlerLocals& handler) { return handler.bci == rows[i].handler; });
    if (found == handler_locals_.end()) return std::nullopt;
    if (i == 0) {
      locals = found->locals;
      continue;
    }
    auto common = CommonLocals(locals, found->locals, input.file.pool);
    if (!common.has_value()) return std::nullopt;
    locals = *std::move(common);
  }
  return locals;
}

void BlockProbes::IndexCounters() {
  for (Group& group : groups_) {
    for (const uint32_t point : group.points) {
      const CounterPosition position = {CounterKind::kThrow, static_cast<uint16_t>(point)};
      const auto found =
          std::lower_bound(plan_.positions.begin(), plan_.positions.end(), position, Before);
      group.counters.push_back(static_cast<uint32_t>(found - plan_.positions.begin()));
    }
  }
}

void BlockProbes::ForEachInsertion(absl::FunctionRef<void(uint32_t, bool, uint32_t)> f) const {
  for (uint32_t i = 0; i < plan_.positions.size(); ++i) {
    const CounterPosition& position = plan_.positions[i];
    if (position.kind == CounterKind::kFall) f(position.bci, true, i);
    if (position.kind != CounterKind::kBlock) continue;
    const auto handler = std::find_if(handler_positions_.begin(), handler_positions_.end(),
                                      [&](const auto& at) { return at.first == position.bci; });
    f(handler != handler_positions_.end() ? handler->second : position.bci, false, i);
  }
}

uint32_t BlockProbes::SizeOf(const Group& group) const {
  const auto points = static_cast<uint32_t>(group.points.size());
  return points * kPushIdSize + (points - 1) * kGotoSize + kCallSize + throw_size_;
}

void BlockProbes::ForEachGroup(uint32_t begin,
                               absl::FunctionRef<void(const Group&, uint32_t)> f) const {
  for (const Group& group : groups_) {
    f(group, begin);
    begin += SizeOf(group);
  }
}

uint32_t BlockProbes::tail_size() const {
  uint32_t size = 0;
  for (const Group& group : groups_) size += SizeOf(group);
  return size;
}

void BlockProbes::WriteTails(const ProbeBytecode& probes, ByteWriter& out,
                             absl::FunctionRef<void(uint32_t, size_t)> on_id) const {
  const size_t begin = out.size();
  ForEachGroup(0, [&](const Group& group, uint32_t) {
    for (size_t left = group.points.size(); left > 0; --left) {
      on_id(group.counters[group.points.size() - left], out.size() - begin);
      for (uint32_t n = kPushIdSize; n > 0; --n) out.U1(0);
      if (left == 1) break;
      out.U1(kOpGoto);
      out.U2(kGotoSize + static_cast<uint32_t>(left - 2) * (kPushIdSize + kGotoSize) + kPushIdSize);
    }
    out.Append(probes.count_block_call.bytes());
    out.Append(probes.rethrow);
  });
}

size_t BlockProbes::rows(bool catch_all) const {
  size_t rows = 0;
  for (const Group& group : groups_) {
    rows += group.points.size() + group.rows.size() + (catch_all ? 1 : 0);
  }
  return rows;
}

void BlockProbes::WriteFirstRows(const BytecodeEditor& editor, uint32_t begin,
                                 ByteWriter& out) const {
  ForEachGroup(begin, [&](const Group& group, uint32_t at) {
    for (const uint32_t point : group.points) {
      const uint32_t moved = editor.Moved(point);
      out.U2(moved);
      // An instruction that throws is not a jump or switch, so its length is the same.
      out.U2(moved + static_cast<uint32_t>(InstructionLength(editor.code(), point)));
      out.U2(at);
      out.U2(0);
      at += kPushIdSize + kGotoSize;
    }
  });
}

void BlockProbes::WriteLastRows(const BytecodeEditor& editor, uint32_t begin, bool catch_all,
                                ByteWriter& out) const {
  const uint32_t end = begin + tail_size();
  ForEachGroup(begin, [&](const Group& group, uint32_t at) {
    const auto add = [&](uint32_t handler, uint16_t type) {
      out.U2(at);
      out.U2(at + SizeOf(group));
      out.U2(handler);
      out.U2(type);
    };
    for (const ExceptionRow& row : group.rows) add(editor.PositionOf(row.handler), row.catch_type);
    if (catch_all) add(end, 0);
  });
}

void BlockProbes::AddFrames(uint32_t begin, uint16_t throwable,
                            std::vector<AddedFrame>& frames) const {
  const VerificationType exception = {VerificationType::kObject, throwable};
  ForEachGroup(begin, [&](const Group& group, uint32_t at) {
    for (size_t i = 0; i < group.points.size(); ++i) {
      frames.push_back({at, group.locals, {exception}});
      at += kPushIdSize + (i + 1 < group.points.size() ? kGotoSize : 0);
    }
    if (group.points.size() == 1) return;
    frames.push_back({at, group.locals, {exception, {VerificationType::kInteger}}});
  });
}

std::optional<std::vector<VerificationType>> CommonLocals(absl::Span<const VerificationType> a,
                                                          absl::Span<const VerificationType> b,
                                                          const ConstantPool& pool) {
  using Type = VerificationType;
  // Compares slots: a long in one list may be beside two entries of the other.
  const auto slots_of = [](absl::Span<const VerificationType> types) {
    std::vector<Type> slots;
    for (const Type& type : types) {
      slots.push_back(type);
      if (type.slots() == 2) slots.push_back({Type::kTop, 1});
    }
    return slots;
  };
  std::vector<Type> x = slots_of(a), y = slots_of(b);
  x.resize(std::max(x.size(), y.size()) + 1);
  y.resize(x.size());
  const auto is_object = [&](const Type& type) {
    return type.tag == Type::kObject && pool.ClassName(type.data) == "java/lang/Object";
  };
  std::vector<Type> common;
  for (size_t i = 0; i < x.size(); ++i) {
    Type type = x[i];
    if (x[i].tag == Type::kTop && y[i].tag != Type::kTop) {
      type = y[i];
    } else if (y[i].tag != Type::kTop && x[i] != y[i]) {
      const bool both = x[i].tag == Type::kObject && y[i].tag == Type::kObject;
      if (!both || (!is_object(x[i]) && !is_object(y[i]))) return std::nullopt;
      type = is_object(x[i]) ? y[i] : x[i];
    }
    if (i + 1 == x.size()) break;  // the extra slot is in neither list
    common.push_back({type.tag, type.tag == Type::kTop ? uint16_t{0} : type.data});
    if (type.slots() != 2) continue;
    if (++i >= x.size() || x[i].tag != Type::kTop || y[i].tag != Type::kTop) return std::nullopt;
  }
  return common;
}

}  // namespace jtrace::classfile
