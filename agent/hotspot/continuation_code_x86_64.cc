#include <cstring>

#include "agent/hotspot/continuation_code.h"

namespace jtrace::sampling {
namespace {

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

}  // namespace jtrace::sampling
