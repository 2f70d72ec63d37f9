#include "agent/classfile/stack_map.h"

namespace jtrace::classfile {
namespace {

constexpr uint32_t kMaxAppended = 3;

using Type = VerificationType;

}  // namespace

Reason StackMapRewriter::Rewrite(Bytes body, const StackMapContext& context,
                                 const CodeEditor& editor, absl::Span<const AddedFrame> added,
                                 ConstantPoolBuilder& pool, ByteWriter& out) {
  context_ = context;
  first_ = true;
  new_place_ = -1;
  const size_t count_at = out.size();
  out.U2(0);
  if (const Reason reason = frames_.Begin(body, context, pool); reason != Reason::kNone) {
    return reason;
  }
  while (frames_.Next()) {
    if (!RewriteFrame(editor, out)) return Reason::kMalformedStackMap;
  }
  if (frames_.is_unknown()) return Reason::kUnknownFrame;
  if (!frames_.AtEnd()) return Reason::kMalformedStackMap;
  const size_t count = static_cast<size_t>(frames_.count()) + added.size();
  if (count > kMaxU2) return Reason::kMalformedStackMap;
  const AddedFrame* before = nullptr;
  for (const AddedFrame& frame : added) {
    if (!WriteAdded(frame, before, editor, out)) return Reason::kMalformedStackMap;
    before = &frame;
  }
  out.PatchU2(count_at, static_cast<uint32_t>(count));
  return Reason::kNone;
}

bool StackMapRewriter::RewriteFrame(const CodeEditor& editor, ByteWriter& out) {
  if (frames_.bci() >= std::ssize(editor.code())) return false;
  const uint32_t place = editor.PlaceOf(static_cast<uint32_t>(frames_.bci()));
  return place != CodeEditor::kNowhere && WriteFrame(place, editor, out);
}

uint32_t StackMapRewriter::DeltaTo(uint32_t place) {
  const auto delta = static_cast<uint32_t>(place - new_place_ - 1);
  new_place_ = place;
  return delta;
}

bool StackMapRewriter::WriteFrame(uint32_t place, const CodeEditor& editor, ByteWriter& out) {
  const uint32_t delta = DeltaTo(place);
  const bool first = first_;
  first_ = false;
  // After the first frame "the same locals" already include the token. Without a token only the
  // stack and the offsets of `new` may require another form than the old one; then a full frame is
  // used.
  if (!frames_.locals_changed() && (!first || context_.token == TokenKind::kNone) &&
      frames_.stack().size() <= 1) {
    return WriteShort(delta, editor, out);
  }
  if (first && frames_.stack().empty() && WriteAppended(delta, out)) return true;
  return WriteFull(delta, editor, out);
}

bool StackMapRewriter::WriteShort(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const {
  if (frames_.stack().empty()) {
    if (delta <= kSameLast) {
      out.U1(delta);
    } else {
      out.U1(kSameExtended);
      out.U2(delta);
    }
    return true;
  }
  return WriteSameOne(delta, frames_.stack()[0], editor, out);
}

bool StackMapRewriter::WriteSameOne(uint32_t delta, const VerificationType& type,
                                    const CodeEditor& editor, ByteWriter& out) const {
  if (delta <= kSameOneLast - kSameOneFirst) {
    out.U1(kSameOneFirst + delta);
  } else {
    out.U1(kSameOneExtended);
    out.U2(delta);
  }
  return WriteType(type, editor, out);
}

bool StackMapRewriter::WriteAppended(uint32_t delta, ByteWriter& out) const {
  if (context_.token == TokenKind::kNone || frames_.locals_changed()) return false;
  const auto padding = static_cast<uint32_t>(frames_.Padding());
  if (padding + 1 > kMaxAppended) return false;
  out.U1(kSameExtended + padding + 1);
  out.U2(delta);
  for (uint32_t n = padding; n > 0; --n) out.U1(Type::kTop);
  WriteToken(out);
  return true;
}

bool StackMapRewriter::WriteFull(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const {
  const auto padding =
      context_.token == TokenKind::kNone ? 0 : static_cast<uint32_t>(frames_.Padding());
  const uint32_t token = context_.token == TokenKind::kNone ? 0 : 1;
  out.U1(kFullFrame);
  out.U2(delta);
  out.U2(static_cast<uint32_t>(frames_.locals().size()) + padding + token);
  for (const Type& type : frames_.locals()) {
    if (!WriteType(type, editor, out)) return false;
  }
  for (uint32_t n = padding; n > 0; --n) out.U1(Type::kTop);
  if (token != 0) WriteToken(out);
  out.U2(static_cast<uint32_t>(frames_.stack().size()));
  for (const Type& type : frames_.stack()) {
    if (!WriteType(type, editor, out)) return false;
  }
  return true;
}

bool StackMapRewriter::WriteType(const VerificationType& type, const CodeEditor& editor,
                                 ByteWriter& out) const {
  out.U1(type.tag);
  if (type.tag == Type::kObject) out.U2(type.data);
  if (type.tag == Type::kUninitialized) {
    const uint32_t moved = editor.Moved(type.data);
    if (moved > kMaxU2) return false;
    out.U2(moved);
  }
  return true;
}

void StackMapRewriter::WriteToken(ByteWriter& out) const {
  out.U1(context_.token == TokenKind::kLong ? Type::kLong : Type::kInteger);
}

bool StackMapRewriter::WriteAdded(const AddedFrame& frame, const AddedFrame* before,
                                  const CodeEditor& editor, ByteWriter& out) {
  const uint32_t delta = DeltaTo(frame.place);
  if (before != nullptr && frame.stack.size() == 1 && frame.locals == before->locals) {
    return WriteSameOne(delta, frame.stack[0], editor, out);
  }
  out.U1(kFullFrame);
  out.U2(delta);
  int slots = 0;
  for (const Type& type : frame.locals) slots += type.slots();
  const bool token = context_.token != TokenKind::kNone;
  const int padding = token ? int{context_.max_locals} - slots : 0;
  if (padding < 0) return false;
  out.U2(static_cast<uint32_t>(std::ssize(frame.locals) + padding + (token ? 1 : 0)));
  for (const Type& type : frame.locals) {
    if (!WriteType(type, editor, out)) return false;
  }
  for (int n = padding; n > 0; --n) out.U1(Type::kTop);
  if (token) WriteToken(out);
  out.U2(static_cast<uint32_t>(frame.stack.size()));
  for (const Type& type : frame.stack) {
    if (!WriteType(type, editor, out)) return false;
  }
  return true;
}

}  // namespace jtrace::classfile
