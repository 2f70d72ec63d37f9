#include "agent/classfile/stack_frames.h"

#include <numeric>

#include "agent/classfile/descriptor.h"

namespace jtrace::classfile {
namespace {

using Type = VerificationType;

}  // namespace

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
