// Bytecode instructions (JVMS 6.5): opcodes, lengths, operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/classfile/byte_io.h"

namespace jtrace::classfile {

// The opcodes that the rewriter names (JVMS 6.5); of the others it knows only the length.
enum Opcode : uint8_t {
  kOpNop = 0,
  kOpSipush = 17,
  kOpLdc = 18,
  kOpLdcW = 19,
  kOpLdc2W = 20,
  kOpIload = 21,
  kOpLload = 22,
  kOpAload = 25,
  kOpAload0 = 42,
  kOpIstore = 54,
  kOpLstore = 55,
  kOpAstore = 58,
  kOpAstore0 = 75,
  kOpDup = 89,
  kOpIinc = 132,
  kOpIfeq = 153,
  kOpGoto = 167,
  kOpJsr = 168,
  kOpRet = 169,
  kOpTableswitch = 170,
  kOpLookupswitch = 171,
  kOpIreturn = 172,
  kOpReturn = 177,
  kOpGetstatic = 178,
  kOpPutstatic = 179,
  kOpGetfield = 180,
  kOpPutfield = 181,
  kOpInvokevirtual = 182,
  kOpInvokespecial = 183,
  kOpInvokestatic = 184,
  kOpInvokeinterface = 185,
  kOpInvokedynamic = 186,
  kOpNew = 187,
  kOpNewarray = 188,
  kOpAnewarray = 189,
  kOpAthrow = 191,
  kOpCheckcast = 192,
  kOpInstanceof = 193,
  kOpMonitorenter = 194,
  kOpMonitorexit = 195,
  kOpWide = 196,
  kOpMultianewarray = 197,
  kOpIfnull = 198,
  kOpIfnonnull = 199,
  kOpGotoW = 200,
  kOpJsrW = 201,
};

// Loads and stores have one-byte forms for slots below this: iload_0 to iload_3 (JVMS 6.5).
inline constexpr int kShortFormSlots = 4;

// How an instruction's bytes depend on its position.
enum class OperandKind : uint8_t {
  kInvalid,   // not a JVMS opcode
  kPlain,     // they do not; length from the table
  kBranch16,  // signed 16-bit offset after the opcode
  kBranch32,  // signed 32-bit offset after the opcode
  kSwitch,    // padded to four bytes, 32-bit offsets
  kWide,      // plain; 4 or 6 bytes
};

OperandKind KindOf(uint8_t opcode);

// Length of the instruction at `at`, 0 if it is invalid or does not fit into `code`. For a switch
// it includes the padding as it is at this position; its default, bounds and count are checked.
size_t InstructionLength(Bytes code, size_t at);

inline bool IsReturn(uint8_t opcode) { return opcode >= kOpIreturn && opcode <= kOpReturn; }
inline bool IsAllocation(uint8_t opcode) {
  return opcode == kOpNew || opcode == kOpNewarray || opcode == kOpAnewarray ||
         opcode == kOpMultianewarray;
}
inline bool IsInvoke(uint8_t opcode) {
  return opcode >= kOpInvokevirtual && opcode <= kOpInvokedynamic;
}

// Bytes between a switch's opcode at `at` and its first aligned operand.
inline size_t SwitchPadding(size_t at) { return 3 - at % 4; }

// A switch's operands without the padding: position and count of its 32-bit branch offsets.
struct SwitchTable {
  size_t operands = 0;  // position of the default offset
  size_t size = 0;      // bytes from there to the next instruction
  size_t first = 0;     // position of the first further offset
  size_t count = 0;
  size_t stride = 4;  // 8 for lookupswitch
};
// `at` must be a switch that InstructionLength accepted.
SwitchTable ParseSwitch(Bytes code, size_t at);

}  // namespace jtrace::classfile
