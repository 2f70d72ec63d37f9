#include "agent/classfile/stack_map.h"

#include <numeric>

#include "agent/classfile/descriptor.h"

namespace jtrace::classfile {
namespace {

// frame_type values, JVMS 4.7.4.
constexpr uint32_t kSameLast = 63;
constexpr uint32_t kSameOneFirst = 64;
constexpr uint32_t kSameOneLast = 127;
constexpr uint32_t kSameOneExtended = 247;
constexpr uint32_t kSameExtended = 251;
constexpr uint32_t kAppendLast = 254;
constexpr uint32_t kFullFrame = 255;
constexpr uint32_t kMaxAppended = 3;

using Type = VerificationType;

bool IsReserved(uint32_t kind) { return kind > kSameOneLast && kind < kSameOneExtended; }

}  // namespace

Reason StackMapRewriter::Rewrite(Bytes body, const StackMapContext& context,
                                 const CodeEditor& editor, const HandlerFrame* handler,
                                 ConstantPoolBuilder& pool, ByteWriter& out) {
  context_ = context;
  first_ = true;
  old_bci_ = new_place_ = -1;
  int count = 0;
  const size_t count_at = out.size();
  out.U2(0);
  if (!body.empty()) {
    ByteReader reader(body);
    count = reader.U2();
    if (const Reason reason = SetInitialLocals(context, pool); reason != Reason::kNone) {
      return reason;
    }
    for (int n = count; n > 0; --n) {
      const uint32_t kind = reader.U1();
      // What an early_larval frame (246, a preview of Java 28) says of a constructor's fields
      // holds for the frames after it, too.
      if (IsReserved(kind)) return Reason::kUnknownFrame;
      if (!RewriteFrame(kind, reader, editor, out)) return Reason::kMalformedStackMap;
    }
    if (!reader.ok() || !reader.AtEnd()) return Reason::kMalformedStackMap;
  }
  if (handler != nullptr) {
    if (count == kMaxU2) return Reason::kMalformedStackMap;
    ++count;
    WriteHandler(*handler, out);
  }
  out.PatchU2(count_at, static_cast<uint32_t>(count));
  return Reason::kNone;
}

Reason StackMapRewriter::SetInitialLocals(const StackMapContext& context,
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

bool StackMapRewriter::RewriteFrame(uint32_t kind, ByteReader& reader, const CodeEditor& editor,
                                    ByteWriter& out) {
  uint32_t delta = kind;
  stack_.clear();
  locals_changed_ = false;
  bool good = true;
  if (kind <= kSameLast) {
  } else if (kind <= kSameOneLast) {
    delta = kind - kSameOneFirst;
    good = ReadTypes(reader, 1, stack_);
  } else {
    delta = reader.U2();
    if (kind == kSameOneExtended) {
      good = ReadTypes(reader, 1, stack_);
    } else if (kind < kSameExtended) {
      good = Chop(static_cast<int>(kSameExtended - kind));
    } else if (kind > kSameExtended && kind <= kAppendLast) {
      good = Append(reader, static_cast<int>(kind - kSameExtended));
    } else if (kind > kAppendLast) {
      locals_changed_ = true;
      locals_.clear();
      good = ReadTypes(reader, reader.U2(), locals_) && ReadTypes(reader, reader.U2(), stack_);
    }
  }
  if (!good || !reader.ok() || Padding() < 0) return false;
  old_bci_ += delta + 1;
  if (old_bci_ >= std::ssize(editor.code())) return false;
  const uint32_t place = editor.PlaceOf(static_cast<uint32_t>(old_bci_));
  return place != CodeEditor::kNowhere && WriteFrame(place, editor, out);
}

bool StackMapRewriter::ReadType(ByteReader& reader, VerificationType& type) const {
  const uint8_t tag = reader.U1();
  if (tag > Type::kUninitialized) return false;
  type.tag = static_cast<Type::Tag>(tag);
  type.data = tag >= Type::kObject ? reader.U2() : 0;
  return reader.ok();
}

bool StackMapRewriter::ReadTypes(ByteReader& reader, int count,
                                 std::vector<VerificationType>& types) const {
  for (; count > 0; --count) {
    VerificationType type;
    if (!ReadType(reader, type)) return false;
    types.push_back(type);
  }
  return true;
}

bool StackMapRewriter::Append(ByteReader& reader, int count) {
  locals_changed_ = true;
  return ReadTypes(reader, count, locals_);
}

bool StackMapRewriter::Chop(int count) {
  locals_changed_ = true;
  if (std::ssize(locals_) < count) return false;
  locals_.resize(locals_.size() - static_cast<size_t>(count));
  return true;
}

int StackMapRewriter::Padding() const {
  const int used = std::accumulate(locals_.begin(), locals_.end(), 0,
                                   [](int sum, const Type& type) { return sum + type.slots(); });
  return int{context_.max_locals} - used;
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
  if (!locals_changed_ && (!first || context_.token == TokenKind::kNone) && stack_.size() <= 1) {
    return WriteShort(delta, editor, out);
  }
  if (first && stack_.empty() && WriteAppended(delta, out)) return true;
  return WriteFull(delta, editor, out);
}

bool StackMapRewriter::WriteShort(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const {
  if (stack_.empty()) {
    if (delta <= kSameLast) {
      out.U1(delta);
    } else {
      out.U1(kSameExtended);
      out.U2(delta);
    }
    return true;
  }
  if (delta <= kSameOneLast - kSameOneFirst) {
    out.U1(kSameOneFirst + delta);
  } else {
    out.U1(kSameOneExtended);
    out.U2(delta);
  }
  return WriteType(stack_[0], editor, out);
}

bool StackMapRewriter::WriteAppended(uint32_t delta, ByteWriter& out) const {
  if (context_.token == TokenKind::kNone || locals_changed_) return false;
  const auto padding = static_cast<uint32_t>(Padding());
  if (padding + 1 > kMaxAppended) return false;
  out.U1(kSameExtended + padding + 1);
  out.U2(delta);
  for (uint32_t n = padding; n > 0; --n) out.U1(Type::kTop);
  WriteToken(out);
  return true;
}

bool StackMapRewriter::WriteFull(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const {
  const auto padding = context_.token == TokenKind::kNone ? 0 : static_cast<uint32_t>(Padding());
  const uint32_t token = context_.token == TokenKind::kNone ? 0 : 1;
  out.U1(kFullFrame);
  out.U2(delta);
  out.U2(static_cast<uint32_t>(locals_.size()) + padding + token);
  for (const Type& type : locals_) {
    if (!WriteType(type, editor, out)) return false;
  }
  for (uint32_t n = padding; n > 0; --n) out.U1(Type::kTop);
  if (token != 0) WriteToken(out);
  out.U2(static_cast<uint32_t>(stack_.size()));
  for (const Type& type : stack_) {
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

void StackMapRewriter::WriteHandler(const HandlerFrame& handler, ByteWriter& out) {
  out.U1(kFullFrame);
  out.U2(DeltaTo(handler.place));
  out.U2(uint32_t{context_.max_locals} + 1);
  for (uint32_t n = context_.max_locals; n > 0; --n) out.U1(Type::kTop);
  WriteToken(out);
  out.U2(1);
  out.U1(Type::kObject);
  out.U2(handler.throwable_class);
}

}  // namespace jtrace::classfile
