// The tables of a rewritten method: exceptions, lines, local variables, frames.
#include "agent/classfile/code_tables.h"
#include "agent/classfile/method_rewriter.h"

namespace jtrace::classfile {

const CodeSubAttribute* MethodRewriter::StackMap() const {
  for (const CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == CodeTable::kStackMap) return &sub;
  }
  return nullptr;
}

StackMapContext MethodRewriter::FrameContext(const MethodInfo& method) const {
  return {
      .descriptor = method.descriptor,
      .is_static = (method.access & kAccStatic) != 0,
      .is_constructor = method.name == "<init>" && !file_.super_name.empty(),
      .this_class = file_.this_index,
      .max_locals = code_.max_locals,
      .token = plan_.token,
  };
}

Reason MethodRewriter::WriteExceptions(ByteWriter& out) const {
  const size_t count = code_.exceptions.size() + (has_catch_all() ? 1 : 0) +
                       (has_blocks_ ? blocks_.rows(has_catch_all()) : 0);
  if (count > kMaxU2) return Reason::kExceptionTableFull;
  out.U2(static_cast<uint32_t>(count));
  if (has_blocks_) blocks_.WriteFirstRows(editor_, tails_begin(), out);
  for (const ExceptionRow& row : code_.exceptions) {
    const uint32_t end = editor_.PlaceOf(row.end);
    if (row.start >= row.end || end == CodeEditor::kNowhere || !editor_.IsInstruction(row.start) ||
        !editor_.IsInstruction(row.handler)) {
      return Reason::kMalformedTable;
    }
    out.U2(editor_.PlaceOf(row.start));
    out.U2(end);
    out.U2(editor_.PlaceOf(row.handler));
    out.U2(row.catch_type);
  }
  if (has_blocks_) blocks_.WriteLastRows(editor_, tails_begin(), has_catch_all(), out);
  if (has_catch_all()) {
    out.U2(editor_.PlaceOf(*plan_.covered_from));
    out.U2(tails_begin());
    out.U2(tails_begin() + tails_size());
    out.U2(0);
  }
  return Reason::kNone;
}

Reason MethodRewriter::WriteTables(const MethodInfo& method, ByteWriter& out) {
  const size_t count_at = out.size();
  out.U2(0);
  uint32_t count = 0;
  const CodeSubAttribute* stack_map = nullptr;
  for (const CodeSubAttribute& sub : code_.attributes) {
    if (sub.table == CodeTable::kStackMap) {
      if (stack_map != nullptr) return Reason::kMalformedStackMap;
      stack_map = &sub;
      continue;
    }
    if (sub.table == CodeTable::kCldcStackMap) continue;
    out.U2(sub.name_index);
    out.U4(static_cast<uint32_t>(sub.body.size()));
    if (!RelocateTable(sub.table, sub.body, editor_, out)) return Reason::kMalformedTable;
    ++count;
  }
  // Older JVMs' verifier infers the types, and this JVM's ignores the attribute for older files.
  if (file_.major_version >= kFirstMajorWithStackMaps &&
      (stack_map != nullptr || has_catch_all() || tails_size() != 0)) {
    if (const Reason reason = WriteStackMap(method, stack_map, out); reason != Reason::kNone) {
      return reason;
    }
    ++count;
  }
  if (count > kMaxU2) return Reason::kMalformedTable;
  out.PatchU2(count_at, count);
  return Reason::kNone;
}

Reason MethodRewriter::WriteStackMap(const MethodInfo& method, const CodeSubAttribute* old,
                                     ByteWriter& out) {
  std::vector<AddedFrame> added;
  if (has_blocks_) blocks_.AddFrames(tails_begin(), constants_.throwable, added);
  if (has_catch_all()) {
    added.push_back(
        {tails_begin() + tails_size(), {}, {{VerificationType::kObject, constants_.throwable}}});
  }
  out.U2(old != nullptr ? old->name_index : constants_.stack_map_table);
  const size_t length_at = out.size();
  out.U4(0);
  const Reason reason = stack_map_.Rewrite(old != nullptr ? old->body : Bytes(),
                                           FrameContext(method), editor_, added, pool_, out);
  out.PatchU4(length_at, static_cast<uint32_t>(out.size() - length_at) - 4);
  return reason;
}

}  // namespace jtrace::classfile
