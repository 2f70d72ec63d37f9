// Reads and rewrites StackMapTables (JVMS 4.7.4): moves frames and adds the token to them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/reason.h"
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

// Reads a StackMapTable frame by frame: call Begin, then Next for each frame. Keeps its buffers.
class StackFrameReader {
 public:
  // `body`: the attribute's; empty: there is none. kConstantPoolFull, kMalformedStackMap or kNone.
  Reason Begin(Bytes body, const StackMapContext& context, ConstantPoolBuilder& pool);
  // False after the last frame, or if the next one is malformed.
  bool Next();
  // After Next returned false: whether the whole table was read.
  bool AtEnd() const { return left_ == 0 && (body_.empty() || (reader_.ok() && reader_.AtEnd())); }

  // After Next returned false: whether it met a frame of a reserved type. An early_larval frame
  // (246, a preview of Java 28) holds for the frames after it, too, so it cannot be skipped.
  bool is_unknown() const { return is_unknown_; }

  int count() const { return count_; }
  // Of the current frame.
  int64_t bci() const { return bci_; }
  const std::vector<VerificationType>& locals() const { return locals_; }
  const std::vector<VerificationType>& stack() const { return stack_; }
  // Whether the frame states locals of its own, instead of those of the frame before it.
  bool locals_changed() const { return locals_changed_; }
  // The slots of the method's locals after those that the frame lists.
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

// The frame of code that is added after the method's own, at `position` of the new code. The token
// is appended to its locals as to those of others. Types refer to old bcis.
struct AddedFrame {
  uint32_t position = 0;
  std::vector<VerificationType> locals;  // empty: only Top, which fits every instruction
  std::vector<VerificationType> stack;
};

// Frames move to where the editor places their instructions, and the token is appended to each
// frame's locals, after as many Tops as it takes to reach its slot.
//
// `same` frames stay such. Since the token is always last, `chop` and `append` become full
// frames, except for the first frame, which may append.
class StackMapRewriter {
 public:
  // `body` is the attribute's old body, empty if it has none. `added`: ascending by position.
  // Appends the new body to `out`. kConstantPoolFull, kUnknownFrame, kMalformedStackMap or kNone.
  Reason Rewrite(Bytes body, const StackMapContext& context, const BytecodeEditor& editor,
                 absl::Span<const AddedFrame> added, ConstantPoolBuilder& pool, ByteWriter& out);

 private:
  bool RewriteFrame(const BytecodeEditor& editor, ByteWriter& out);
  bool WriteFrame(uint32_t position, const BytecodeEditor& editor, ByteWriter& out);
  bool WriteShort(uint32_t delta, const BytecodeEditor& editor, ByteWriter& out) const;
  bool WriteAppended(uint32_t delta, ByteWriter& out) const;
  bool WriteFull(uint32_t delta, const BytecodeEditor& editor, ByteWriter& out) const;
  bool WriteSameOne(uint32_t delta, const VerificationType& type, const BytecodeEditor& editor,
                    ByteWriter& out) const;
  // `before`: the added frame before it, or null.
  bool WriteAdded(const AddedFrame& frame, const AddedFrame* before, const BytecodeEditor& editor,
                  ByteWriter& out);
  bool WriteType(const VerificationType& type, const BytecodeEditor& editor, ByteWriter& out) const;
  void WriteToken(ByteWriter& out) const;
  uint32_t DeltaTo(uint32_t position);

  StackMapContext context_;
  StackFrameReader frames_;
  bool first_ = true;
  int64_t new_position_ = -1;
};

}  // namespace jtrace::classfile
