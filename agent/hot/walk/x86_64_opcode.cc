#include "agent/hot/walk/x86_64_opcode.h"

namespace jtrace::hot {
namespace {

bool IsPrefix(uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return false;
  }
}

}  // namespace

Opcode ReadOpcode(const uint8_t* p) {
  Opcode op;
  for (int prefixes = 0; IsPrefix(*p) && prefixes < 8; ++prefixes, ++p) {
    if (*p == 0x66) op.operand16 = true;
  }
  if ((*p & 0xf0) == 0x40) op.rex = *p++;
  switch (*p) {
    case 0xc5:  // two-byte VEX
      op.vector = true;
      op.map = k0F;
      op.code = p[2];
      op.next = p + 3;
      return op;
    case 0xc4:  // three-byte VEX
      op.vector = true;
      op.map = static_cast<Map>(p[1] & 3);
      op.code = p[3];
      op.next = p + 4;
      return op;
    case 0x62:  // EVEX
      op.vector = true;
      op.map = static_cast<Map>(p[1] & 3);
      op.code = p[4];
      op.next = p + 5;
      return op;
    case 0x0f:
      ++p;
      if (*p == 0x38 || *p == 0x3a) {
        op.map = *p == 0x38 ? k0F38 : k0F3A;
        ++p;
      } else {
        op.map = k0F;
      }
      break;
    default:
      break;
  }
  op.code = *p;
  op.next = p + 1;
  return op;
}

namespace {

struct Operands {
  bool mod_rm = false;
  int immediate = 0;
};

int Immediate16Or32(const Opcode& op) { return op.operand16 ? 2 : 4; }

Operands OneByteOperands(const Opcode& op) {
  const uint8_t code = op.code;
  if (code < 0x40) {  // the eight arithmetic groups of eight
    const int form = code & 7;
    return {form < 4, form == 4 ? 1 : form == 5 ? Immediate16Or32(op) : 0};
  }
  if (code >= 0x70 && code <= 0x7f) return {false, 1};
  if (code >= 0xb0 && code <= 0xb7) return {false, 1};
  if (code >= 0xb8 && code <= 0xbf) return {false, (op.rex & 8) != 0 ? 8 : Immediate16Or32(op)};
  if (code >= 0xe0 && code <= 0xe7) return {false, 1};
  if ((code >= 0x84 && code <= 0x8f) || (code >= 0xd0 && code <= 0xd3) ||
      (code >= 0xd8 && code <= 0xdf)) {
    return {true, 0};
  }
  switch (code) {
    case 0x63:
    case 0xfe:
    case 0xff:
      return {true, 0};
    case 0x69:
    case 0x81:
    case 0xc7:
      return {true, Immediate16Or32(op)};
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
      return {true, 1};
    case 0xf6:
    case 0xf7: {  // only their test forms have an immediate
      const bool test = (*op.next >> 3 & 7) < 2;
      return {true, !test ? 0 : code == 0xf6 ? 1 : Immediate16Or32(op)};
    }
    case 0x68:
    case 0xa9:
      return {false, Immediate16Or32(op)};
    case 0xe8:
    case 0xe9:
      return {false, 4};
    case 0x6a:
    case 0xa8:
    case 0xcd:
    case 0xeb:
      return {false, 1};
    case 0xc2:
      return {false, 2};
    case 0xc8:
      return {false, 3};
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
      return {false, 8};
    default:
      return {false, 0};
  }
}

Operands TwoByteOperands(const Opcode& op) {
  const uint8_t code = op.code;
  if (!op.vector) {
    if (code >= 0x80 && code <= 0x8f) return {false, 4};
    if (code >= 0xc8 && code <= 0xcf) return {false, 0};
    switch (code) {
      case 0x05:
      case 0x0b:
      case 0x31:
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa8:
      case 0xa9:
        return {false, 0};
      default:
        break;
    }
  }
  if (code == 0x77) return {false, 0};  // emms, vzeroupper
  const bool immediate = (code >= 0x70 && code <= 0x73) || code == 0xa4 || code == 0xac ||
                         code == 0xba || code == 0xc2 || (code >= 0xc4 && code <= 0xc6);
  return {true, immediate ? 1 : 0};
}

int ModRmLength(const uint8_t* p) {
  const int mod = p[0] >> 6;
  const int rm = p[0] & 7;
  if (mod == 3) return 1;
  const bool sib = rm == 4;
  const bool no_base = mod == 0 && (sib ? (p[1] & 7) == 5 : rm == 5);
  return 1 + (sib ? 1 : 0) + (mod == 1 ? 1 : mod == 2 || no_base ? 4 : 0);
}

}  // namespace

int InstructionLength(const uint8_t* begin, const Opcode& op) {
  Operands operands;
  switch (op.map) {
    case kOneByte:
      operands = OneByteOperands(op);
      break;
    case k0F:
      operands = TwoByteOperands(op);
      break;
    case k0F38:
      operands = {true, 0};
      break;
    case k0F3A:
      operands = {true, 1};
      break;
  }
  const uint8_t* p = op.next;
  if (operands.mod_rm) p += ModRmLength(p);
  return static_cast<int>(p - begin) + operands.immediate;
}

}  // namespace jtrace::hot
