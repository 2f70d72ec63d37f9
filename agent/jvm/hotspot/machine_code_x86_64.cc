#include <cstring>

#include "agent/jvm/hotspot/machine_code.h"
#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::jvm {
namespace {

// Part of enterSpecial, and the offsets of its instructions and of their operands, in bytes:
// sub rsp, imm8; mov rax, [r15 + disp32]; mov [rsp + disp8], rax; mov [r15 + disp32], rsp.
constexpr uint64_t kSubtract = 0, kLoad = 4, kLink = 11, kStore = 16, kEnd = 23;
constexpr uint64_t kImmediate = kSubtract + 3, kLoaded = kLoad + 3, kStored = kStore + 3;

bool Has(const uint8_t* code, std::initializer_list<uint8_t> bytes) {
  return std::memcmp(code, bytes.begin(), bytes.size()) == 0;
}

bool EntersContinuation(const uint8_t* code) {
  return Has(code + kSubtract, {0x48, 0x83, 0xec}) && Has(code + kLoad, {0x49, 0x8b, 0x87}) &&
         Has(code + kLink, {0x48, 0x89, 0x44, 0x24}) && Has(code + kStore, {0x49, 0x89, 0xa7}) &&
         std::memcmp(code + kLoaded, code + kStored, sizeof(int32_t)) == 0;
}

}  // namespace

std::optional<uintptr_t> FrameSetupEnd(uintptr_t entry, const samples::CodeBlob& nmethod) {
  constexpr int kMaxInstructions = 40;
  // frame_size, in words, includes the return address, which the call has pushed.
  const int wanted = 8 * (nmethod.frame_size - 1);
  int depth = 0;
  uintptr_t at = entry;
  for (int i = 0; i < kMaxInstructions; ++i) {
    const samples::Instruction instruction = samples::Decode(at, nmethod.end);
    if (instruction.length == 0) break;
    switch (instruction.effect) {
      case samples::StackEffect::kPushRbp:
        depth += 8;
        break;
      case samples::StackEffect::kMove:
        depth += instruction.delta;
        break;
      case samples::StackEffect::kNone:
      case samples::StackEffect::kSaveRbp:
      case samples::StackEffect::kSetFrame:
        break;
      default:  // ends the frame: none, or one of another size
        return depth == 0 ? std::optional<uintptr_t>() : 0;
    }
    at += static_cast<uintptr_t>(instruction.length);
    if (depth == wanted && instruction.effect == samples::StackEffect::kMove) return at;
    if (depth > wanted) return 0;
  }
  return depth == 0 ? std::optional<uintptr_t>() : 0;
}

std::optional<ContinuationFields> FindContinuationFields(const uint8_t* code, uint64_t size) {
  constexpr uint8_t kLargest = 0x7f;  // an imm8 is signed
  for (uint64_t at = 0; at + kEnd <= size; ++at) {
    if (!EntersContinuation(code + at)) continue;
    ContinuationFields fields;
    std::memcpy(&fields.entry, code + at + kLoaded, sizeof fields.entry);
    fields.entry_size = code[at + kImmediate];
    if (fields.entry > 0 && fields.entry_size % 8 == 0 && fields.entry_size <= kLargest) {
      return fields;
    }
  }
  return std::nullopt;
}

}  // namespace jtrace::jvm
