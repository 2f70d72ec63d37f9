// A made-up nmethod of the older shape (everything in one block), for tests of readers of debug
// information.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::testing {

// Its code is from kCode to kCode + 100 and is never read. Its two Methods are kFirstMethod and
// kSecondMethod.
class FakeNmethod {
 public:
  static constexpr uintptr_t kCode = 0x10000;
  static constexpr uint64_t kFirstMethod = 0x1000, kSecondMethod = 0x2000;

  FakeNmethod() {
    Put<int32_t>(kPcDescsAt, kPcDescs);
    Put<int32_t>(kPcDescsEndAt, kPcDescs);
    Put<uint64_t>(kScopesAt, address() + kScopes);
    Put<int32_t>(kMetadataAt, kMetadata);
    Put<uint64_t>(kMetadata, kFirstMethod);
    Put<uint64_t>(kMetadata + 8, kSecondMethod);
  }

  // Sets the layout to an nmethod of this shape.
  static void Describe(samples::VmLayout& vm) {
    vm.nmethod.scopes_pcs_offset = kPcDescsAt;
    vm.nmethod.dependencies_offset = kPcDescsEndAt;
    vm.nmethod.scopes_data_begin = kScopesAt;
    vm.nmethod.metadata_offset = kMetadataAt;
  }

  // The scopes' bytes from `at` on.
  void PutScopes(const std::vector<uint8_t>& bytes, int at = 0) {
    std::memcpy(memory_ + kScopes + at, bytes.data(), bytes.size());
  }
  // After the existing ones; their code is in ascending order.
  void AddPcDesc(int32_t pc, int32_t scope) {
    const int32_t desc[] = {pc, scope, 0, 0};
    std::memcpy(memory_ + kPcDescs + 16 * count_++, desc, sizeof desc);
    Put<int32_t>(kPcDescsEndAt, kPcDescs + 16 * count_);
  }
  void ClearPcDescs() {
    count_ = 0;
    Put<int32_t>(kPcDescsEndAt, kPcDescs);
  }

  uintptr_t address() const { return reinterpret_cast<uintptr_t>(memory_); }
  samples::CodeBlob blob(uintptr_t size = 100) const {
    return {address(), kCode, kCode + size, 4, samples::BlobKind::kNmethod};
  }

 private:
  template <typename T>
  void Put(int at, T value) {
    std::memcpy(memory_ + at, &value, sizeof value);
  }

  static constexpr int kPcDescsAt = 0, kPcDescsEndAt = 4, kScopesAt = 8, kMetadataAt = 16;
  static constexpr int kMetadata = 32, kScopes = 64, kPcDescs = 128;
  int count_ = 0;
  alignas(8) uint8_t memory_[16'384] = {};
};

}  // namespace jtrace::testing
