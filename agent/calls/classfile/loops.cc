#include "agent/calls/classfile/loops.h"

#include <cstdint>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// The offset of a branch; 0 for other instructions.
int64_t OffsetOf(Bytes code, size_t at) {
  const uint8_t* const operand = code.data() + at + 1;
  switch (KindOf(code[at])) {
    case OperandKind::kBranch16:
      return static_cast<int16_t>(LoadU2(operand));
    case OperandKind::kBranch32:
      return static_cast<int32_t>(LoadU4(operand));
    default:
      return 0;
  }
}

}  // namespace

bool IsInLoop(Bytes code, size_t bci) {
  for (size_t at = 0; at < code.size();) {
    const size_t length = InstructionLength(code, at);
    if (length == 0) return false;
    const int64_t offset = OffsetOf(code, at);
    const int64_t back_to = static_cast<int64_t>(at) + offset;
    if (at >= bci && offset < 0 && back_to <= static_cast<int64_t>(bci)) return true;
    at += length;
  }
  return false;
}

}  // namespace jtrace::classfile
