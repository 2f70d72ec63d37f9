// Rewrites StackMapTables (JVMS 4.7.4): moves frames and adds the token to them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/code_editor.h"
#include "agent/classfile/probe_spec.h"
#include "agent/classfile/reason.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {

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

// The catch-all handler's frame: only the token is known there, and a Throwable is on the stack.
// The weakest frame that fits every instruction the handler covers.
struct HandlerFrame {
  uint32_t place = 0;
  uint16_t throwable_class = 0;
};

// Frames move to where the editor placed their instructions, and the token is appended to each
// frame's locals, after as many Tops as it takes to reach its slot.
//
// `same` frames stay such. Since the token is always last, `chop` and `append` become full
// frames, except for the first frame, which may append.
class StackMapRewriter {
 public:
  // `body` is the attribute's old body, empty if it has none. `handler` may be null. Appends the
  // new body to `out`. kConstantPoolFull, kUnknownFrame, kMalformedStackMap or kNone.
  Reason Rewrite(Bytes body, const StackMapContext& context, const CodeEditor& editor,
                 const HandlerFrame* handler, ConstantPoolBuilder& pool, ByteWriter& out);

 private:
  Reason SetInitialLocals(const StackMapContext& context, ConstantPoolBuilder& pool);
  // `kind` is the frame's first byte, and `reader` after it.
  bool RewriteFrame(uint32_t kind, ByteReader& reader, const CodeEditor& editor, ByteWriter& out);
  bool ReadType(ByteReader& reader, VerificationType& type) const;
  bool ReadTypes(ByteReader& reader, int count, std::vector<VerificationType>& types) const;
  bool Append(ByteReader& reader, int count);
  bool Chop(int count);
  int Padding() const;
  bool WriteFrame(uint32_t place, const CodeEditor& editor, ByteWriter& out);
  bool WriteShort(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const;
  bool WriteAppended(uint32_t delta, ByteWriter& out) const;
  bool WriteFull(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const;
  bool WriteType(const VerificationType& type, const CodeEditor& editor, ByteWriter& out) const;
  void WriteToken(ByteWriter& out) const;
  void WriteHandler(const HandlerFrame& handler, ByteWriter& out);
  uint32_t DeltaTo(uint32_t place);

  StackMapContext context_;
  std::vector<VerificationType> locals_;
  std::vector<VerificationType> stack_;
  bool locals_changed_ = false;
  bool first_ = true;
  int64_t old_bci_ = -1;
  int64_t new_place_ = -1;
};

}  // namespace jtrace::classfile
