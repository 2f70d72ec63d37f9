#include "agent/samples/walk/x86_64_code.h"

#include <cstring>

#include "agent/samples/walk/call_instruction.h"

namespace jtrace::samples {
namespace {

int32_t Read32(const uint8_t* p) {
  int32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

constexpr int kRegRsp = 4;
constexpr int kRegRbp = 5;

struct Effect {
  StackEffect effect = StackEffect::kNone;
  int32_t delta = 0;
};

// Arithmetic on rsp itself with a constant: 83 /n ib and 81 /n id.
Effect ImmediateArithmetic(const Opcode& op) {
  const uint8_t mod_rm = op.next[0];
  if ((mod_rm & 0xc7) != (0xc0 | kRegRsp)) return {};
  const int32_t value = op.code == 0x83 ? static_cast<int8_t>(op.next[1]) : Read32(op.next + 1);
  switch (mod_rm >> 3 & 7) {
    case 0:
      return {StackEffect::kMove, -value};
    case 5:
      return {StackEffect::kMove, value};
    case 7:  // cmp
      return {};
    default:
      return {StackEffect::kUnknown, 0};
  }
}

Effect LoadEffectiveAddress(const Opcode& op) {
  const uint8_t* p = op.next;
  if ((p[0] >> 3 & 7) != kRegRsp || (op.rex & 4) != 0) return {};
  const bool from_rsp = (p[0] & 7) == 4 && p[1] == 0x24;
  if (from_rsp && p[0] >> 6 == 1) return {StackEffect::kMove, -static_cast<int8_t>(p[2])};
  if (from_rsp && p[0] >> 6 == 2) return {StackEffect::kMove, -Read32(p + 2)};
  return {StackEffect::kUnknown, 0};
}

// mov between registers, and rbp to the stack: 89 /r and 8b /r.
Effect Move(const Opcode& op) {
  const uint8_t mod_rm = op.next[0];
  const bool store = op.code == 0x89;
  const int reg = (mod_rm >> 3 & 7) | ((op.rex & 4) != 0 ? 8 : 0);
  const int rm = (mod_rm & 7) | ((op.rex & 1) != 0 ? 8 : 0);
  if (mod_rm >> 6 == 3) {
    const int to = store ? rm : reg;
    const int from = store ? reg : rm;
    if (to == kRegRbp && from == kRegRsp) return {StackEffect::kSetFrame, 0};
    if (to == kRegRsp) return {StackEffect::kUnknown, 0};
    return {};
  }
  const bool based_on_rsp = (mod_rm & 7) == 4 && op.next[1] == 0x24;
  if (store && reg == kRegRbp && based_on_rsp) return {StackEffect::kSaveRbp, 0};
  return !store && reg == kRegRsp ? Effect{StackEffect::kUnknown, 0} : Effect{};
}

Effect WideEffect(const Opcode& op) {
  switch (op.code) {
    case 0x81:
    case 0x83:
      return ImmediateArithmetic(op);
    case 0x8d:
      return LoadEffectiveAddress(op);
    case 0x89:
    case 0x8b:
      return Move(op);
    default:
      return {};
  }
}

Effect OneByteEffect(const Opcode& op) {
  const uint8_t code = op.code;
  const bool rbp = (code & 7) == kRegRbp && (op.rex & 1) == 0;
  if (code >= 0x50 && code <= 0x57) return {rbp ? StackEffect::kPushRbp : StackEffect::kMove, 8};
  if (code == 0x5c && (op.rex & 1) == 0) return {StackEffect::kUnknown, 0};  // pop rsp
  if (code >= 0x58 && code <= 0x5f) return {rbp ? StackEffect::kPopRbp : StackEffect::kMove, -8};
  const int group = *op.next >> 3 & 7;  // of opcodes that extend into ModRM
  switch (code) {
    case 0x68:
    case 0x6a:
    case 0x9c:
      return {StackEffect::kMove, 8};
    case 0x9d:
      return {StackEffect::kMove, -8};
    case 0x8f:
      return group == 0 ? Effect{StackEffect::kMove, -8} : Effect{};
    case 0xc2:
    case 0xc3:
      return {StackEffect::kReturn, 0};
    case 0xc9:
      return {StackEffect::kLeave, 0};
    case 0xe8:
      return {StackEffect::kCall, 0};
    case 0xcc:
    case 0xf4:
    case 0xe9:
    case 0xeb:
      return {StackEffect::kJump, 0};
    case 0xff:
      if (group == 2) return {StackEffect::kCall, 0};
      if (group == 4) return {StackEffect::kJump, 0};
      if (group == 6) return {StackEffect::kMove, 8};
      return {};
    default:
      return (op.rex & 8) != 0 ? WideEffect(op) : Effect{};
  }
}

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

Instruction Decode(uintptr_t at, uintptr_t end) {
  uint8_t bytes[kReadableBytes] = {};
  if (at >= end) return {0, StackEffect::kUnknown, 0};
  const uintptr_t available = end - at;
  std::memcpy(bytes, reinterpret_cast<const void*>(at),
              available < kMaxInstruction ? available : kMaxInstruction);
  const Opcode op = ReadOpcode(bytes);
  const int length = InstructionLength(bytes, op);
  if (length > kMaxInstruction || static_cast<uintptr_t>(length) > available) {
    return {0, StackEffect::kUnknown, 0};
  }
  if (op.map == k0F && op.code == 0x0b) return {length, StackEffect::kJump, 0};  // ud2
  const Effect effect = op.map == kOneByte && !op.vector ? OneByteEffect(op) : Effect{};
  return {length, effect.effect, effect.delta};
}

namespace {

// Copies an optional REX.B and the two bytes after it; returns the register's high bit, or -1.
int ReadShort(uintptr_t at, uintptr_t end, uint8_t (&bytes)[2]) {
  if (at + 3 > end) return -1;
  const auto* p = reinterpret_cast<const uint8_t*>(at);
  const bool rex_b = *p == 0x41;
  if (rex_b) ++p;
  std::memcpy(bytes, p, sizeof bytes);
  return rex_b ? 8 : 0;
}

}  // namespace

int JumpedRegister(uintptr_t at, uintptr_t end) {
  uint8_t bytes[2];
  const int high = ReadShort(at, end, bytes);
  return high >= 0 && bytes[0] == 0xff && (bytes[1] & 0xf8) == 0xe0 ? high | (bytes[1] & 7) : -1;
}

int PushedRegister(uintptr_t at, uintptr_t end) {
  uint8_t bytes[2];
  const int high = ReadShort(at, end, bytes);
  return high >= 0 && (bytes[0] & 0xf8) == 0x50 ? high | (bytes[0] & 7) : -1;
}

int PoppedRegister(uintptr_t at, uintptr_t end) {
  uint8_t bytes[2];
  const int high = ReadShort(at, end, bytes);
  return high >= 0 && (bytes[0] & 0xf8) == 0x58 ? high | (bytes[0] & 7) : -1;
}

int RegisterToSp(uintptr_t at, uintptr_t end) {
  if (at + 3 > end) return -1;
  uint8_t p[3];
  std::memcpy(p, reinterpret_cast<const void*>(at), sizeof p);
  // 8b /r and 89 /r, between registers.
  if ((p[0] == 0x48 || p[0] == 0x49) && p[1] == 0x8b && (p[2] & 0xf8) == 0xe0) {
    return (p[0] & 1) << 3 | (p[2] & 7);
  }
  if ((p[0] == 0x48 || p[0] == 0x4c) && p[1] == 0x89 && (p[2] & 0xc7) == 0xc4) {
    return (p[0] & 4) << 1 | (p[2] >> 3 & 7);
  }
  return -1;
}

uintptr_t ConditionalTarget(uintptr_t at, uintptr_t end) {
  uint8_t p[6] = {};
  if (at >= end) return 0;
  std::memcpy(p, reinterpret_cast<const void*>(at), end - at < sizeof p ? end - at : sizeof p);
  intptr_t length = 0, distance = 0;
  if ((p[0] & 0xf0) == 0x70) {
    length = 2;
    distance = static_cast<int8_t>(p[1]);  // NOLINT(bugprone-signed-char-misuse): a signed distance
  } else if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80) {
    length = 6;
    distance = Read32(p + 2);
  }
  return length != 0 ? at + static_cast<uintptr_t>(length + distance) : 0;
}

bool EndsWithCall(const uint8_t bytes[8]) {
  const auto at = [bytes](int before_end) { return bytes[8 - before_end]; };
  if (at(5) == 0xe8) return true;
  // ff /2 with each shape of its operand: register, [register], SIB and displacements.
  if (at(2) == 0xff && (at(1) & 0xf8) == 0xd0) return true;
  if (at(2) == 0xff && (at(1) & 0xf8) == 0x10 && (at(1) & 7) != 4 && (at(1) & 7) != 5) return true;
  if (at(3) == 0xff && at(2) == 0x14) return true;
  if (at(3) == 0xff && (at(2) & 0xf8) == 0x50 && (at(2) & 7) != 4) return true;
  if (at(4) == 0xff && at(3) == 0x54) return true;
  if (at(6) == 0xff && ((at(5) & 0xf8) == 0x90 || at(5) == 0x15)) return true;
  return at(7) == 0xff && (at(6) == 0x94 || at(6) == 0x14);
}

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
  if (code < 0x40) {  // eight arithmetic operations, with eight opcodes each
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

}  // namespace jtrace::samples
