#include "agent/native_hooks/displaced_instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/status/status.h"

namespace jtrace::native_hooks {
namespace {

struct Decoded {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

bool Decode(std::span<const uint8_t> bytes, Decoded* decoded) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(),
                                             std::min(bytes.size(), kMaxInstruction),
                                             &decoded->instruction, decoded->operands.data()));
}

absl::Status CannotRunElsewhere(const char* why) { return absl::FailedPreconditionError(why); }

// Appends machine code to a DisplacedInstruction.
class Assembler {
 public:
  explicit Assembler(DisplacedInstruction& out) : out_(out) {}

  void Bytes(std::span<const uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), out_.code.begin() + static_cast<ptrdiff_t>(at_));
    at_ += bytes.size();
  }
  // jmp [rip]; the address follows.
  void JumpTo(uintptr_t target) {
    Bytes(std::array<uint8_t, 6>{0xff, 0x25, 0, 0, 0, 0});
    Address(target);
  }
  // push [rip + distance]: the address must follow `distance` bytes after this instruction.
  void PushFollowing(uint8_t distance) {
    Bytes(std::array<uint8_t, 6>{0xff, 0x35, distance, 0, 0, 0});
  }
  void Address(uintptr_t value) {
    std::array<uint8_t, sizeof value> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    Bytes(bytes);
  }
  size_t at() const { return at_; }

 private:
  DisplacedInstruction& out_;
  size_t at_ = 0;
};

constexpr size_t kJumpLength = 14;  // Assembler::JumpTo

uintptr_t BranchTarget(const Decoded& decoded, uintptr_t from) {
  return from + decoded.instruction.length +
         static_cast<uintptr_t>(decoded.operands[0].imm.value.s);
}

// Emits the condition with an 8-bit distance, which skips the jump for the false case.
DisplacedInstruction Branch(const Decoded& decoded, std::span<const uint8_t> bytes,
                            uintptr_t from) {
  const ZydisDecodedInstruction& it = decoded.instruction;
  DisplacedInstruction out;
  out.length = it.length;
  Assembler code(out);
  if (it.opcode_map == ZYDIS_OPCODE_MAP_0F) {  // jcc with a distance of 32 bits
    code.Bytes(std::array<uint8_t, 1>{static_cast<uint8_t>(it.opcode - 0x10)});
  } else {  // short jcc, loop, jrcxz: with their prefixes, which choose the counter
    code.Bytes(bytes.first(static_cast<size_t>(it.length) - 1));
  }
  code.Bytes(std::array<uint8_t, 1>{kJumpLength});
  code.JumpTo(from + it.length);
  code.JumpTo(BranchTarget(decoded, from));
  // A branch leaves the stack as it is, so all of the slot stands for the branch itself.
  out.done = DisplacedInstruction::kMaxCode;
  out.after = from;
  return out;
}

DisplacedInstruction Jump(const Decoded& decoded, uintptr_t from) {
  DisplacedInstruction out;
  out.length = decoded.instruction.length;
  Assembler(out).JumpTo(BranchTarget(decoded, from));
  out.done = DisplacedInstruction::kMaxCode;
  out.after = from;
  return out;
}

// Pushes the return address of the original call, then jumps to the function.
DisplacedInstruction Call(const Decoded& decoded, uintptr_t from) {
  DisplacedInstruction out;
  out.length = decoded.instruction.length;
  Assembler code(out);
  code.PushFollowing(kJumpLength);
  out.done = static_cast<uint8_t>(code.at());
  out.after = BranchTarget(decoded, from);
  code.JumpTo(out.after);
  code.Address(from + out.length);
  return out;
}

const ZydisDecodedOperand* MemoryOperand(const Decoded& decoded) {
  for (size_t i = 0; i < decoded.instruction.operand_count_visible; ++i) {
    if (decoded.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY) return &decoded.operands[i];
  }
  return nullptr;
}

bool IsRelativeToRip(const ZydisDecodedOperand* memory) {
  return memory != nullptr && memory->mem.base == ZYDIS_REGISTER_RIP;
}

// Corrects the displacement in `bytes`, so that the copy at `to` addresses the same memory.
absl::Status MoveDistance(const Decoded& decoded, uintptr_t from, uintptr_t to,
                          std::span<uint8_t> bytes) {
  const auto& raw = decoded.instruction.raw.disp;
  const auto moved = static_cast<int64_t>(from - to) + raw.value;
  if (moved < std::numeric_limits<int32_t>::min() || moved > std::numeric_limits<int32_t>::max()) {
    return absl::OutOfRangeError("its memory is out of reach");
  }
  const auto distance = static_cast<int32_t>(moved);
  std::memcpy(&bytes[raw.offset], &distance, sizeof distance);
  return absl::OkStatus();
}

// `call r/m` becomes `push return address; jmp r/m`.
absl::StatusOr<DisplacedInstruction> IndirectCall(const Decoded& decoded,
                                                  std::span<const uint8_t> bytes, uintptr_t from,
                                                  uintptr_t slot) {
  const ZydisDecodedInstruction& it = decoded.instruction;
  const ZydisDecodedOperand* memory = MemoryOperand(decoded);
  if (it.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
      (memory != nullptr && memory->mem.base == ZYDIS_REGISTER_RSP)) {
    return CannotRunElsewhere("its first instruction is a call through the stack");
  }
  DisplacedInstruction out;
  out.length = it.length;
  out.is_position_bound = IsRelativeToRip(memory);
  Assembler code(out);
  code.PushFollowing(it.length);
  out.done = static_cast<uint8_t>(code.at());
  out.after = from;  // unwinders find the return address at rsp, as at a function's entry
  std::array<uint8_t, kMaxInstruction> copy = {};
  std::copy_n(bytes.begin(), it.length, copy.begin());
  constexpr uint8_t kCallToJump = 0x30;  // ModRM.reg: /2 (call) becomes /4 (jmp)
  copy[it.raw.modrm.offset] ^= kCallToJump;
  if (out.is_position_bound) {
    absl::Status moved = MoveDistance(decoded, from, slot + out.done, copy);
    if (!moved.ok()) return moved;
  }
  code.Bytes(std::span(copy).first(it.length));
  code.Address(from + it.length);
  return out;
}

absl::StatusOr<DisplacedInstruction> Plain(const Decoded& decoded, std::span<const uint8_t> bytes,
                                           uintptr_t from, uintptr_t slot) {
  const ZydisDecodedInstruction& it = decoded.instruction;
  DisplacedInstruction out;
  out.length = it.length;
  out.done = it.length;
  out.after = from + it.length;
  std::array<uint8_t, kMaxInstruction> copy = {};
  std::copy_n(bytes.begin(), it.length, copy.begin());
  if (IsRelativeToRip(MemoryOperand(decoded))) {
    out.is_position_bound = true;
    if (absl::Status moved = MoveDistance(decoded, from, slot, copy); !moved.ok()) return moved;
  }
  Assembler code(out);
  code.Bytes(std::span(copy).first(it.length));
  code.JumpTo(out.after);
  return out;
}

// Why an instruction behaves differently at another place; null: it does not.
const char* Obstacle(const Decoded& decoded) {
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_INT3:
      return "another breakpoint is there";
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INTO:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return "it begins with a trap";
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
      return "it begins with a system call, which shows the program its address";
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
      return "it begins with a transaction";
    default:
      return nullptr;
  }
}

}  // namespace

size_t InstructionLength(std::span<const uint8_t> bytes) {
  Decoded decoded;
  return Decode(bytes, &decoded) ? decoded.instruction.length : 0;
}

absl::StatusOr<DisplacedInstruction> Displace(std::span<const uint8_t> bytes, uintptr_t from,
                                              uintptr_t slot) {
  Decoded decoded;
  if (!Decode(bytes, &decoded)) return CannotRunElsewhere("its first bytes are not an instruction");
  if (const char* obstacle = Obstacle(decoded)) return CannotRunElsewhere(obstacle);
  const bool is_relative = (decoded.instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0 &&
                           decoded.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (is_relative && decoded.instruction.operand_width == 16) {
    return CannotRunElsewhere("its first instruction branches by 16 bits");
  }
  if (const auto* memory = MemoryOperand(decoded);
      memory != nullptr && memory->mem.base == ZYDIS_REGISTER_EIP) {
    return CannotRunElsewhere("its first instruction addresses memory by 32 bits of its place");
  }
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return is_relative ? absl::StatusOr<DisplacedInstruction>(Call(decoded, from))
                         : IndirectCall(decoded, bytes, from, slot);
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (is_relative) return Jump(decoded, from);
      break;
    case ZYDIS_CATEGORY_COND_BR:
      if (is_relative) return Branch(decoded, bytes, from);
      break;
    default:
      if (is_relative) return CannotRunElsewhere("its first instruction depends on its place");
      break;
  }
  return Plain(decoded, bytes, from, slot);
}

}  // namespace jtrace::native_hooks
