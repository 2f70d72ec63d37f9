#include "agent/calls/classfile/leaf.h"

#include <algorithm>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// An inherited static field may belong to an interface that is not initialised yet.
bool IsOwnField(const ClassFile& file, uint16_t index, bool is_static) {
  const auto field = file.pool.Field(index);
  if (!field || field->class_name != file.this_name) return false;
  return !is_static || std::find(file.static_fields.begin(), file.static_fields.end(),
                                 field->name) != file.static_fields.end();
}

bool MayCall(const ClassFile& file, const uint8_t* instruction) {
  const uint8_t opcode = instruction[0];
  switch (opcode) {
    case kOpLdc:
      return !file.pool.IsPlainValue(instruction[1]);
    case kOpLdcW:
    case kOpLdc2W:
      return !file.pool.IsPlainValue(LoadU2(instruction + 1));
    case kOpGetstatic:
    case kOpPutstatic:
      return !IsOwnField(file, LoadU2(instruction + 1), /*is_static=*/true);
    case kOpGetfield:
    case kOpPutfield:
      return !IsOwnField(file, LoadU2(instruction + 1), /*is_static=*/false);
    case kOpNew:
    case kOpAnewarray:
    case kOpMultianewarray:
    case kOpCheckcast:
    case kOpInstanceof:
      return true;
    default:
      return IsInvoke(opcode);
  }
}

}  // namespace

bool CallsNothing(const ClassFile& file, const CodeAttribute& code) {
  for (size_t at = 0; at < code.code.size(); at += InstructionLength(code.code, at)) {
    if (MayCall(file, code.code.data() + at)) return false;
  }
  return true;
}

}  // namespace jtrace::classfile
