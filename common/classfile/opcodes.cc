#include "common/classfile/opcodes.h"

#include <array>

namespace jtrace::classfile {
namespace {

struct OpcodeInfo {
  OperandKind kind = OperandKind::kInvalid;
  uint8_t length = 0;
};

constexpr std::array<OpcodeInfo, 256> MakeTable() {
  std::array<OpcodeInfo, 256> table{};
  auto plain = [&table](int from, int to, uint8_t length) {
    for (int op = from; op <= to; ++op) table[op] = {OperandKind::kPlain, length};
  };
  auto branch = [&table](int from, int to) {
    for (int op = from; op <= to; ++op) table[op] = {OperandKind::kBranch16, 3};
  };
  plain(0, 15, 1);     // constants
  plain(16, 16, 2);    // bipush
  plain(17, 17, 3);    // sipush
  plain(18, 18, 2);    // ldc
  plain(19, 20, 3);    // ldc_w, ldc2_w
  plain(21, 25, 2);    // loads
  plain(26, 53, 1);    // short loads, array loads
  plain(54, 58, 2);    // stores
  plain(59, 131, 1);   // short stores, array stores, stack, arithmetic
  plain(132, 132, 3);  // iinc
  plain(133, 152, 1);  // conversions, comparisons
  branch(153, 168);    // conditional jumps, goto, jsr
  plain(169, 169, 2);  // ret
  table[kOpTableswitch] = {OperandKind::kSwitch, 0};
  table[kOpLookupswitch] = {OperandKind::kSwitch, 0};
  plain(172, 177, 1);  // returns
  plain(178, 184, 3);  // fields, invokes
  plain(185, 186, 5);  // invokeinterface, invokedynamic
  plain(187, 187, 3);  // new
  plain(188, 188, 2);  // newarray
  plain(189, 189, 3);  // anewarray
  plain(190, 191, 1);  // arraylength, athrow
  plain(192, 193, 3);  // checkcast, instanceof
  plain(194, 195, 1);  // monitors
  table[kOpWide] = {OperandKind::kWide, 0};
  plain(197, 197, 4);  // multianewarray
  branch(198, 199);    // ifnull, ifnonnull
  table[kOpGotoW] = {OperandKind::kBranch32, 5};
  table[kOpJsrW] = {OperandKind::kBranch32, 5};
  return table;
}

constexpr std::array<OpcodeInfo, 256> kTable = MakeTable();

// A switch's operands after the padding begin with default, low and high (JVMS 6.5.tableswitch) or
// with default and npairs (JVMS 6.5.lookupswitch), four bytes each.
constexpr size_t kTableHeader = 12;
constexpr size_t kLookupHeader = 8;
constexpr size_t kOffsetSize = 4;
constexpr size_t kMatchSize = 4;
constexpr size_t kPairSize = kMatchSize + kOffsetSize;

// JVMS 6.5.wide: of iinc, and of loads, stores and ret.
constexpr size_t kWideIincLength = 6;
constexpr size_t kWideLength = 4;

size_t SwitchLength(Bytes code, size_t at) {
  const size_t operands = at + 1 + SwitchPadding(at);
  const bool table = code[at] == kOpTableswitch;
  const size_t header = table ? kTableHeader : kLookupHeader;
  if (operands + header > code.size()) return 0;
  const uint8_t* p = code.data() + operands;
  int64_t count = static_cast<int32_t>(LoadU4(p + 4));
  if (table) count = static_cast<int64_t>(static_cast<int32_t>(LoadU4(p + 8))) - count + 1;
  if (count < 0 || (table && count == 0)) return 0;
  const size_t room = code.size() - operands - header;
  const size_t stride = table ? kOffsetSize : kPairSize;
  if (static_cast<uint64_t>(count) > room / stride) return 0;
  return operands + header + static_cast<size_t>(count) * stride - at;
}

}  // namespace

OperandKind KindOf(uint8_t opcode) { return kTable[opcode].kind; }

size_t InstructionLength(Bytes code, size_t at) {
  const OpcodeInfo info = kTable[code[at]];
  size_t length = info.length;
  if (info.kind == OperandKind::kSwitch) {
    length = SwitchLength(code, at);
  } else if (info.kind == OperandKind::kWide) {
    if (at + 1 >= code.size()) return 0;
    const uint8_t widened = code[at + 1];
    const bool load_store = (widened >= kOpIload && widened <= kOpAload) ||
                            (widened >= kOpIstore && widened <= kOpAstore);
    if (widened == kOpIinc) {
      length = kWideIincLength;
    } else if (load_store || widened == kOpRet) {
      length = kWideLength;
    }
  }
  return length <= code.size() - at ? length : 0;
}

SwitchTable ParseSwitch(Bytes code, size_t at) {
  SwitchTable result;
  result.operands = at + 1 + SwitchPadding(at);
  const uint8_t* p = code.data() + result.operands;
  if (code[at] == kOpTableswitch) {
    result.first = result.operands + kTableHeader;
    result.count = static_cast<size_t>(static_cast<int64_t>(static_cast<int32_t>(LoadU4(p + 8))) -
                                       static_cast<int32_t>(LoadU4(p + 4)) + 1);
    result.stride = kOffsetSize;
    result.size = kTableHeader + kOffsetSize * result.count;
  } else {
    result.first = result.operands + kLookupHeader + kMatchSize;
    result.count = LoadU4(p + 4);
    result.stride = kPairSize;
    result.size = kLookupHeader + kPairSize * result.count;
  }
  return result;
}

}  // namespace jtrace::classfile
