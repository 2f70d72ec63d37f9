// Reads StackMapTables (JVMS 4.7.4), frame by frame.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/probe_spec.h"
#include "agent/classfile/reason.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {

// frame_type values, JVMS 4.7.4.
inline constexpr uint32_t kSameLast = 63;
inline constexpr uint32_t kSameOneFirst = 64;
inline constexpr uint32_t kSameOneLast = 127;
inline constexpr uint32_t kSameOneExtended = 247;
inline constexpr uint32_t kSameExtended = 251;
inline constexpr uint32_t kAppendLast = 254;
inline constexpr uint32_t kFullFrame = 255;

// A verification type as a frame spells it (JVMS 4.7.4).
struct VerificationType {
  enum Tag : uint8_t {
    kTop = 0,
    kInteger = 1,
    kFloat = 2,
    kDouble = 3,
    kLong = 4,
    kNull = 5,
    kUninitializedThis = 6,
    kObject = 7,
    kUninitialized = 8,
  };
  Tag tag = kTop;
  uint16_t data = 0;  // class index of kObject, bci of `new` of kUninitialized

  int slots() const { return tag == kLong || tag == kDouble ? 2 : 1; }
  friend bool operator==(const VerificationType&, const VerificationType&) = default;
};

// Properties of a method that its frames depend on.
struct StackMapContext {
  std::string_view descriptor;
  bool is_static = false;
  bool is_constructor = false;  // of a class other than java/lang/Object
  uint16_t this_class = 0;
  uint16_t max_locals = 0;  // before rewriting: the token's slot
  TokenKind token = TokenKind::kNone;
};

// Use: Begin, then Next for each frame. Keeps its buffers.
class StackFrameReader {
 public:
  // `body`: of the attribute; empty: there is none. kConstantPoolFull, kMalformedStackMap or kNone.
  Reason Begin(Bytes body, const StackMapContext& context, ConstantPoolBuilder& pool);
  // False after the last frame, or if the next one is malformed.
  bool Next();
  // After Next returned false: whether that was the end.
  bool AtEnd() const { return left_ == 0 && (body_.empty() || (reader_.ok() && reader_.AtEnd())); }

  // Whether that was a frame of a reserved kind. What an early_larval frame (246, a preview of Java
  // 28) says of a constructor's fields holds for the frames after it, too.
  bool is_unknown() const { return is_unknown_; }

  int count() const { return count_; }
  // Of the current frame.
  int64_t bci() const { return bci_; }
  const std::vector<VerificationType>& locals() const { return locals_; }
  const std::vector<VerificationType>& stack() const { return stack_; }
  // Whether it changes the locals of the frame before it.
  bool locals_changed() const { return locals_changed_; }
  // The slots of the method's locals that it leaves out.
  int Padding() const;

 private:
  Reason SetInitialLocals(const StackMapContext& context, ConstantPoolBuilder& pool);
  bool ReadType(VerificationType& type);
  bool ReadTypes(int count, std::vector<VerificationType>& types);
  bool Append(int count);
  bool Chop(int count);

  Bytes body_;
  ByteReader reader_{{}};
  uint16_t max_locals_ = 0;
  int count_ = 0;
  int left_ = 0;
  int64_t bci_ = -1;
  std::vector<VerificationType> locals_;
  std::vector<VerificationType> stack_;
  bool locals_changed_ = false;
  bool is_unknown_ = false;
};

}  // namespace jtrace::classfile
