// A made-up code cache with one nmethod of the older shape, whose debug information may be wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::testing {

// Method 1 has methods 2 and 3 inlined. Code is added in pairs: an instruction, and behind it a
// call in method 2.
class NotedCode {
 public:
  static constexpr int kCalls = 60;
  // The scope that the instruction is said to be in.
  static constexpr int32_t kOuter = 1, kInlined = 4, kElsewhere = 7;
  static constexpr uint64_t kOuterMethod = 0x1000, kInlinedMethod = 0x2000,
                            kElsewhereMethod = 0x3000;

  NotedCode() {
    std::memset(code(), 0x90, kCodeBytes);
    Put<uint8_t>(kUsedAt, 1);
    Put<uint64_t>(kNameAt, reinterpret_cast<uintptr_t>("nmethod"));
    Put<uint64_t>(kMethodAt, kOuterMethod);
    Put<int32_t>(kCompileIdAt, 77);
    Put<int32_t>(kLevelAt, 4);
    Put<int32_t>(kSizeAt, static_cast<int32_t>(sizeof memory_ - kHeader));
    Put<int32_t>(kFrameSizeAt, 4);
    Put<uint64_t>(kCodeBeginAt, reinterpret_cast<uintptr_t>(code()));
    Put<int32_t>(kPcDescsAt, kPcDescs);
    Put<int32_t>(kPcDescsEndAt, kPcDescs);
    Put<uint64_t>(kScopesAt, address() + kScopes);
    Put<int32_t>(kMetadataAt, kMetadata);
    for (uint64_t i = 0; i < 3; ++i) {
      Put<uint64_t>(kMetadata + 8 * static_cast<int>(i), 0x1000 * (i + 1));
    }
    // Sender, method, bytecode index + 1; there is no scope 0.
    const uint8_t scopes[] = {0, 0, 1, 8, 1, 2, 4, 1, 3, 5};
    std::memcpy(memory_ + kHeader + kScopes, scopes, sizeof scopes);
    Describe();
  }

  // `distance`: from the instruction to its call.
  void AddPair(int32_t scope, int32_t distance = 16) {
    AddPcDesc(at_ + 8, scope);
    at_ += 8 + distance;
    code()[at_ - 5] = 0xe8;
    AddPcDesc(at_, kInlined);
  }

  const samples::VmLayout& vm() const { return vm_; }
  samples::VmLayout* layout() { return &vm_; }
  samples::CodeBlob blob() const {
    samples::CodeBlob found{};
    samples::FindBlob(vm_, pc(8), &found);
    return found;
  }
  uintptr_t pc(int32_t offset) const {
    return reinterpret_cast<uintptr_t>(memory_) + kHeader + kCode + static_cast<uintptr_t>(offset);
  }
  // The JVM frees it.
  void Free() { Put<uint8_t>(kUsedAt, 0); }
  // Another compilation has its place.
  void CompileAgain() { Put<int32_t>(kCompileIdAt, 78); }

 private:
  static constexpr int kHeader = 16, kUsedAt = -kHeader + 8;
  static constexpr int kNameAt = 0, kSizeAt = 8, kFrameSizeAt = 12, kCodeBeginAt = 16,
                       kMethodAt = 24, kCompileIdAt = 32, kLevelAt = 36, kPcDescsAt = 40,
                       kPcDescsEndAt = 44, kScopesAt = 48, kMetadataAt = 56;
  static constexpr int kMetadata = 64, kScopes = 96, kPcDescs = 128, kCode = 4096;
  static constexpr int kCodeBytes = 8192;
  static constexpr uint32_t kSegmentShift = 14;

  template <typename T>
  void Put(int at, T value) {
    std::memcpy(memory_ + kHeader + at, &value, sizeof value);
  }
  void AddPcDesc(int32_t pc, int32_t scope) {
    const int32_t desc[] = {pc, scope, 0, 0};
    std::memcpy(memory_ + kHeader + kPcDescs + 16 * count_++, desc, sizeof desc);
    Put<int32_t>(kPcDescsEndAt, kPcDescs + 16 * count_);
  }
  uint8_t* code() { return memory_ + kHeader + kCode; }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(memory_) + kHeader; }

  void Describe() {
    vm_.code_low = &low_;
    vm_.code_high = &high_;
    vm_.heaps[0] = {&low_, &high_, &segments_, kSegmentShift};
    vm_.heap_count = 1;
    vm_.heap_block_header = kHeader;
    vm_.heap_block_used = 8;
    vm_.blob.name = kNameAt;
    vm_.blob.size = kSizeAt;
    vm_.blob.frame_size = kFrameSizeAt;
    vm_.blob.code_begin = kCodeBeginAt;
    vm_.nmethod.method = kMethodAt;
    vm_.nmethod.compile_id = kCompileIdAt;
    vm_.nmethod.comp_level = kLevelAt;
    vm_.nmethod.scopes_pcs_offset = kPcDescsAt;
    vm_.nmethod.dependencies_offset = kPcDescsEndAt;
    vm_.nmethod.scopes_data_begin = kScopesAt;
    vm_.nmethod.metadata_offset = kMetadataAt;
  }

  int32_t at_ = 0;
  int count_ = 0;
  samples::VmLayout vm_;
  alignas(16) uint8_t memory_[1 << kSegmentShift] = {};
  uint8_t segment_map_[1] = {0};
  const uintptr_t low_ = reinterpret_cast<uintptr_t>(memory_);
  const uintptr_t high_ = low_ + sizeof memory_;
  const uintptr_t segments_ = reinterpret_cast<uintptr_t>(segment_map_);
};

}  // namespace jtrace::testing
