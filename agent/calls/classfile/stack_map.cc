#include "agent/calls/classfile/stack_map.h"

#include <numeric>

#include "agent/calls/classfile/descriptor.h"

namespace jtrace::classfile {
namespace {

constexpr uint32_t kMaxAppended = 3;

using Type = VerificationType;

using Type = VerificationType;

}  // namespace

Reason StackMapRewriter::Rewrite(Bytes body, const StackMapContext& context,
                                 const BytecodeEditor& editor, absl::Span<const AddedFrame> added,
                                 ConstantPoolBuilder& pool, ByteWriter& out) {
  context_ = context;
  first_ = true;
  new_position_ = -1;
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

bool StackMapRewriter::RewriteFrame(const BytecodeEditor& editor, ByteWriter& out) {
  if (frames_.bci() >= std::ssize(editor.code())) return false;
  const uint32_t position = editor.PositionOf(static_cast<uint32_t>(frames_.bci()));
  return position != BytecodeEditor::kNowhere && WriteFrame(position, editor, out);
}

uint32_t StackMapRewriter::DeltaTo(uint32_t position) {
  const auto delta = static_cast<uint32_t>(position - new_position_ - 1);
  new_position_ = position;
  return delta;
}

bool StackMapRewriter::WriteFrame(uint32_t position, const BytecodeEditor& editor,
                                  ByteWriter& out) {
  const uint32_t delta = DeltaTo(position);
  const bool first = first_;
  first_ = false;
  // The implicit frame at the method's begin lacks the token, so that the first frame must add it.
  // After that, "the same locals" include the token.
  if (!frames_.locals_changed() && (!first || context_.token == TokenKind::kNone) &&
      frames_.stack().size() <= 1) {
    return WriteShort(delta, editor, out);
  }
  if (first && frames_.stack().empty() && WriteAppended(delta, out)) return true;
  return WriteFull(delta, editor, out);
}

bool StackMapRewriter::WriteShort(uint32_t delta, const BytecodeEditor& editor,
                                  ByteWriter& out) const {
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
                                    const BytecodeEditor& editor, ByteWriter& out) const {
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

bool StackMapRewriter::WriteFull(uint32_t delta, const BytecodeEditor& editor,
                                 ByteWriter& out) const {
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

bool StackMapRewriter::WriteType(const VerificationType& type, const BytecodeEditor& editor,
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
                                  const BytecodeEditor& editor, ByteWriter& out) {
  const uint32_t delta = DeltaTo(frame.position);
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

Reason StackFrameReader::Begin(Bytes body, const StackMapContext& context,
                               ConstantPoolBuilder& pool) {
  body_ = body;
  reader_ = ByteReader(body);
  max_locals_ = context.max_locals;
  bci_ = -1;
  is_unknown_ = false;
  count_ = left_ = body.empty() ? 0 : reader_.U2();
  return body.empty() ? Reason::kNone : SetInitialLocals(context, pool);
}

Reason StackFrameReader::SetInitialLocals(const StackMapContext& context,
                                          ConstantPoolBuilder& pool) {
  locals_.clear();
  if (context.is_constructor) {
    locals_.push_back({Type::kUninitializedThis});
  } else if (!context.is_static) {
    locals_.push_back({Type::kObject, context.this_class});
  }
  DescriptorReader parameters(context.descriptor);
  while (const auto parameter = parameters.Next()) {
    Type type;
    switch (parameter->front()) {
      case 'J':
        type.tag = Type::kLong;
        break;
      case 'D':
        type.tag = Type::kDouble;
        break;
      case 'F':
        type.tag = Type::kFloat;
        break;
      case 'L':
      case '[':
        type.tag = Type::kObject;
        type.data = pool.FindOrAddClass(ClassNameOf(*parameter));
        if (type.data == 0) return Reason::kConstantPoolFull;
        break;
      default:
        type.tag = Type::kInteger;
    }
    locals_.push_back(type);
  }
  return parameters.ok() && Padding() >= 0 ? Reason::kNone : Reason::kMalformedStackMap;
}

bool StackFrameReader::Next() {
  if (left_ == 0) return false;
  const uint32_t kind = reader_.U1();
  uint32_t delta = kind;
  stack_.clear();
  locals_changed_ = false;
  bool good = true;
  if (kind <= kSameLast) {
  } else if (kind <= kSameOneLast) {
    delta = kind - kSameOneFirst;
    good = ReadTypes(1, stack_);
  } else if (kind < kSameOneExtended) {
    is_unknown_ = true;  // reserved
    return false;
  } else {
    delta = reader_.U2();
    if (kind == kSameOneExtended) {
      good = ReadTypes(1, stack_);
    } else if (kind < kSameExtended) {
      good = Chop(static_cast<int>(kSameExtended - kind));
    } else if (kind > kSameExtended && kind <= kAppendLast) {
      good = Append(static_cast<int>(kind - kSameExtended));
    } else if (kind > kAppendLast) {
      locals_changed_ = true;
      locals_.clear();
      good = ReadTypes(reader_.U2(), locals_) && ReadTypes(reader_.U2(), stack_);
    }
  }
  if (!good || !reader_.ok() || Padding() < 0) return false;
  bci_ += delta + 1;
  --left_;
  return true;
}

bool StackFrameReader::ReadType(VerificationType& type) {
  const uint8_t tag = reader_.U1();
  if (tag > Type::kUninitialized) return false;
  type.tag = static_cast<Type::Tag>(tag);
  type.data = tag >= Type::kObject ? reader_.U2() : 0;
  return reader_.ok();
}

bool StackFrameReader::ReadTypes(int count, std::vector<VerificationType>& types) {
  for (; count > 0; --count) {
    VerificationType type;
    if (!ReadType(type)) return false;
    types.push_back(type);
  }
  return true;
}

bool StackFrameReader::Append(int count) {
  locals_changed_ = true;
  return ReadTypes(count, locals_);
}

bool StackFrameReader::Chop(int count) {
  locals_changed_ = true;
  if (std::ssize(locals_) < count) return false;
  locals_.resize(locals_.size() - static_cast<size_t>(count));
  return true;
}

int StackFrameReader::Padding() const {
  const int used = std::accumulate(locals_.begin(), locals_.end(), 0,
                                   [](int sum, const Type& type) { return sum + type.slots(); });
  return int{max_locals_} - used;
}

}  // namespace jtrace::classfile
