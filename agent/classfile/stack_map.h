// Rewrites StackMapTables (JVMS 4.7.4): moves frames and adds the token to them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "agent/classfile/code_editor.h"
#include "agent/classfile/stack_frames.h"
#include "common/classfile/byte_io.h"

namespace jtrace::classfile {

// The frame of code that is added after the method's own, at `place` of the new code. The token is
// appended to its locals as to those of others. Types refer to old bcis.
struct AddedFrame {
  uint32_t place = 0;
  std::vector<VerificationType> locals;  // empty: the weakest ones, which fit every instruction
  std::vector<VerificationType> stack;
};

// Frames move to where the editor placed their instructions, and the token is appended to each
// frame's locals, after as many Tops as it takes to reach its slot.
//
// `same` frames stay such. Since the token is always last, `chop` and `append` become full
// frames, except for the first frame, which may append.
class StackMapRewriter {
 public:
  // `body` is the attribute's old body, empty if it has none. `added`: ascending by place. Appends
  // the new body to `out`. kConstantPoolFull, kUnknownFrame, kMalformedStackMap or kNone.
  Reason Rewrite(Bytes body, const StackMapContext& context, const CodeEditor& editor,
                 absl::Span<const AddedFrame> added, ConstantPoolBuilder& pool, ByteWriter& out);

 private:
  bool RewriteFrame(const CodeEditor& editor, ByteWriter& out);
  bool WriteFrame(uint32_t place, const CodeEditor& editor, ByteWriter& out);
  bool WriteShort(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const;
  bool WriteAppended(uint32_t delta, ByteWriter& out) const;
  bool WriteFull(uint32_t delta, const CodeEditor& editor, ByteWriter& out) const;
  bool WriteSameOne(uint32_t delta, const VerificationType& type, const CodeEditor& editor,
                    ByteWriter& out) const;
  // `before`: the added frame before it, or null.
  bool WriteAdded(const AddedFrame& frame, const AddedFrame* before, const CodeEditor& editor,
                  ByteWriter& out);
  bool WriteType(const VerificationType& type, const CodeEditor& editor, ByteWriter& out) const;
  void WriteToken(ByteWriter& out) const;
  uint32_t DeltaTo(uint32_t place);

  StackMapContext context_;
  StackFrameReader frames_;
  bool first_ = true;
  int64_t new_place_ = -1;
};

}  // namespace jtrace::classfile
