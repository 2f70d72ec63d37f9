#include "agent/calls/classfile/method_writer.h"

#include <algorithm>

#include "agent/calls/classfile/bytecode_editor.h"

namespace jtrace::classfile {

int SlotsOf(TokenKind token) {
  return token == TokenKind::kLong ? 2 : token == TokenKind::kInt ? 1 : 0;
}

void IdPositions::Clear() {
  method.clear();
  unwind.clear();
  points.clear();
  counters.clear();
  call_sites.clear();
}

int MethodWriter::MaxStack(const PlannedMethod& method) const {
  const int old = method.code.max_stack;
  const bool has_token = method.plan.token != TokenKind::kNone;
  const int token_slots = SlotsOf(method.plan.token);
  // enter: the id, then the token, on an empty stack. exit: the token on top of the stack. resume:
  // token and id on top of an exception, or of anything if it is after a handler's first
  // instructions. A point: kPointStack, on top of its operands or its result. A counter: its id, on
  // top of anything, and in a tail on top of the exception. A call site: its number, on top of a
  // call's operands.
  return std::max({old + token_slots + (method.code.exceptions.empty() ? 0 : 1),
                   method.has_blocks ? std::max(old + 1, 2 + token_slots) : 0,
                   has_token ? 1 + token_slots : 1, method.has_call_sites ? old + 1 : 0,
                   method.points.empty() ? 0 : old + kPointStack});
}

Reason MethodWriter::Write(const PlannedMethod& method, const ProbeBytecode& probes,
                           ByteWriter& out, IdPositions& ids) {
  const MethodInfo& info = *method.info;
  out.Append(file_.bytes.subspan(info.begin, info.code_begin - info.begin));
  const size_t begin = out.size();
  // A call's token is after the slots of the method's token, even if the method keeps none.
  const int added_locals =
      method.points.empty() ? SlotsOf(method.plan.token) : 2 * SlotsOf(spec_.token);
  out.U2(method.code.name_index);
  out.U4(0);
  out.U2(static_cast<uint32_t>(MaxStack(method)));
  out.U2(static_cast<uint32_t>(method.code.max_locals + added_locals));
  out.U4(0);
  WriteCode(method, probes, out, ids);
  out.PatchU4(begin + kCodeLengthOffset, static_cast<uint32_t>(out.size() - begin - kCodeOffset));
  if (const Reason reason = WriteExceptions(method, out); reason != Reason::kNone) return reason;
  if (const Reason reason = WriteTables(method, out); reason != Reason::kNone) return reason;
  out.PatchU4(begin + kAttributeLengthOffset,
              static_cast<uint32_t>(out.size() - begin - kAttributeBodyOffset));
  out.Append(file_.bytes.subspan(info.code_end, info.end - info.code_end));
  return Reason::kNone;
}

void MethodWriter::WriteCode(const PlannedMethod& method, const ProbeBytecode& probes,
                             ByteWriter& out, IdPositions& ids) const {
  ids.Clear();
  const size_t begin = out.size();
  method.editor.Write(out, [&](size_t insertion, size_t offset) {
    const ProbePlan::Role role = method.plan.roles[insertion];
    const size_t at = begin + offset;
    switch (role.kind) {
      case ProbePlan::Kind::kEnter:
        return ids.method.push_back(at + probes.id_in_enter);
      case ProbePlan::Kind::kResume:
        return ids.method.push_back(at + probes.id_in_resume);
      case ProbePlan::Kind::kLeaf:
        return ids.method.push_back(at + probes.id_in_leaf);
      case ProbePlan::Kind::kUnwind:
        return ids.unwind.push_back(at + probes.id_in_unwind);
      case ProbePlan::Kind::kBeforeCall:
        ids.points.emplace_back(role.index, at + IdInBeforeCall(method.points[role.index].probe));
        return;
      case ProbePlan::Kind::kCountPoint:
      case ProbePlan::Kind::kCountPointAtEntry:
        ids.points.emplace_back(role.index, at);
        return;
      case ProbePlan::Kind::kCountBlock:
        ids.counters.emplace_back(role.index, at);
        return;
      case ProbePlan::Kind::kCallSite:
        ids.call_sites.emplace_back(role.index, at);
        return;
      case ProbePlan::Kind::kAfterCall:
      case ProbePlan::Kind::kAllocation:
      case ProbePlan::Kind::kExit:
        return;
    }
  });
  if (method.has_blocks) {
    const size_t tails = out.size();
    method.blocks.WriteTails(probes, out, [&](uint32_t index, size_t position) {
      ids.counters.emplace_back(index, tails + position);
    });
  }
  if (const auto index = method.MonitorOfCatchAll()) {
    ids.points.emplace_back(*index, out.size());
    out.Append(probes.count_point.bytes());
  }
  if (method.has_catch_all()) out.Append(probes.catch_all.bytes());
}

StackMapContext MethodWriter::FrameContext(const PlannedMethod& method) const {
  return {
      .descriptor = method.info->descriptor,
      .is_static = (method.info->access & kAccStatic) != 0,
      .is_constructor = method.info->name == "<init>" && !file_.super_name.empty(),
      .this_class = file_.this_index,
      .max_locals = method.code.max_locals,
      .token = method.plan.token,
  };
}

Reason MethodWriter::WriteExceptions(const PlannedMethod& method, ByteWriter& out) const {
  const size_t count = method.code.exceptions.size() + (method.has_catch_all() ? 1 : 0) +
                       (method.has_blocks ? method.blocks.rows(method.has_catch_all()) : 0);
  if (count > kMaxU2) return Reason::kExceptionTableFull;
  out.U2(static_cast<uint32_t>(count));
  if (method.has_blocks) method.blocks.WriteFirstRows(method.editor, method.tails_begin(), out);
  for (const ExceptionRow& row : method.code.exceptions) {
    const uint32_t end = method.editor.PositionOf(row.end);
    if (row.start >= row.end || end == BytecodeEditor::kNowhere ||
        !method.editor.IsInstruction(row.start) || !method.editor.IsInstruction(row.handler)) {
      return Reason::kMalformedTable;
    }
    out.U2(method.editor.PositionOf(row.start));
    out.U2(end);
    out.U2(method.editor.PositionOf(row.handler));
    out.U2(row.catch_type);
  }
  if (method.has_blocks)
    method.blocks.WriteLastRows(method.editor, method.tails_begin(), method.has_catch_all(), out);
  if (method.has_catch_all()) {
    out.U2(method.editor.PositionOf(*method.plan.covered_from));
    out.U2(method.tails_begin());
    out.U2(method.tails_begin() + method.tails_size());
    out.U2(0);
  }
  return Reason::kNone;
}

Reason MethodWriter::WriteTables(const PlannedMethod& method, ByteWriter& out) {
  const size_t count_at = out.size();
  out.U2(0);
  uint32_t count = 0;
  const CodeSubAttribute* stack_map = nullptr;
  for (const CodeSubAttribute& sub : method.code.attributes) {
    if (sub.table == CodeTable::kStackMap) {
      if (stack_map != nullptr) return Reason::kMalformedStackMap;
      stack_map = &sub;
      continue;
    }
    if (sub.table == CodeTable::kCldcStackMap) continue;
    out.U2(sub.name_index);
    out.U4(static_cast<uint32_t>(sub.body.size()));
    if (!RelocateTable(sub.table, sub.body, method.editor, out)) return Reason::kMalformedTable;
    ++count;
  }
  // The JVM infers the types of older class files, and ignores the attribute in them.
  if (file_.major_version >= kFirstMajorWithStackMaps &&
      (stack_map != nullptr || method.has_catch_all() || method.tails_size() != 0)) {
    if (const Reason reason = WriteStackMap(method, stack_map, out); reason != Reason::kNone) {
      return reason;
    }
    ++count;
  }
  if (count > kMaxU2) return Reason::kMalformedTable;
  out.PatchU2(count_at, count);
  return Reason::kNone;
}

Reason MethodWriter::WriteStackMap(const PlannedMethod& method, const CodeSubAttribute* old,
                                   ByteWriter& out) {
  std::vector<AddedFrame> added;
  if (method.has_blocks) method.blocks.AddFrames(method.tails_begin(), constants_.throwable, added);
  if (method.has_catch_all()) {
    added.push_back({method.tails_begin() + method.tails_size(),
                     {},
                     {{VerificationType::kObject, constants_.throwable}}});
  }
  out.U2(old != nullptr ? old->name_index : constants_.stack_map_table);
  const size_t length_at = out.size();
  out.U4(0);
  const Reason reason = stack_map_.Rewrite(old != nullptr ? old->body : Bytes(),
                                           FrameContext(method), method.editor, added, pool_, out);
  out.PatchU4(length_at, static_cast<uint32_t>(out.size() - length_at) - 4);
  return reason;
}

}  // namespace jtrace::classfile
