// A made-up code cache, to walk through code as HotSpot generates it.
#pragma once

#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/samples/walk/vm_layout.h"
#include "agent/samples/walk/walker.h"

namespace jtrace::samples {

// One code heap: blocks of one size, with a header, a blob and its code.
class CodeHeap {
 public:
  static constexpr uint32_t kBlock = 512, kSegment = 128, kHeader = 16, kCode = 128;
  static constexpr int kPrologueEnd = 5;
  static constexpr int kBlocks = 4;  // the last one is free

  CodeHeap() {
    std::memset(segments_, 0xff, sizeof segments_);
    vm_.code_low = &low_;
    vm_.code_high = &high_;
    vm_.heaps[0] = {&low_, &high_, &map_, 7};
    vm_.heap_count = 1;
    vm_.heap_block_header = kHeader;
    vm_.heap_block_used = 8;
    vm_.blob.name = 0;
    vm_.blob.size = 8;
    vm_.blob.frame_size = 12;
    vm_.blob.frame_complete = 16;
    vm_.nmethod.compile_id = 20;
    vm_.blob.code_begin = 24;
    vm_.nmethod.method = 32;
    vm_.nmethod.verified_entry = 40;
    vm_.nmethod.scopes_pcs_offset = vm_.nmethod.dependencies_offset = 48;
    vm_.nmethod.scopes_data_begin = 56;
    vm_.nmethod.metadata_offset = 48;
    vm_.call_stub_return = low_ + 3 * kBlock + 64;
  }

  // Makes a block's code the interpreter's.
  void SetInterpreter(int block) {
    vm_.interpreter_low = Code(block);
    vm_.interpreter_high = Code(block) + kBlock - kHeader - kCode;
  }

  const VmLayout& vm() const { return vm_; }
  uintptr_t Code(int block) const { return low_ + Offset(block) + kHeader + kCode; }

  void Add(int block, const char* name, int frame_size, uint64_t method,
           const std::vector<uint8_t>& code) {
    const uint32_t blob = Offset(block) + kHeader;
    for (uint32_t i = 0; i < kBlock / kSegment; ++i) {
      segments_[Offset(block) / kSegment + i] = static_cast<uint8_t>(i);
    }
    memory_[Offset(block) + 8] = 1;
    Set<uint64_t>(blob, reinterpret_cast<uintptr_t>(name));
    Set<int32_t>(blob + 8, kBlock - kHeader);
    Set<int32_t>(blob + 12, frame_size);
    Set<int32_t>(blob + 16, kPrologueEnd);
    Set<int32_t>(blob + 20, block);
    Set<uint64_t>(blob + 24, Code(block));
    Set<uint64_t>(blob + 32, method);
    Set<uint64_t>(blob + 40, Code(block));
    std::memset(memory_ + blob + kCode, 0x90, kBlock - kHeader - kCode);
    std::memcpy(memory_ + blob + kCode, code.data(), code.size());
  }

 private:
  static uint32_t Offset(int block) { return static_cast<uint32_t>(block) * kBlock; }
  template <typename T>
  void Set(uint32_t offset, T value) {
    std::memcpy(memory_ + offset, &value, sizeof value);
  }

  alignas(64) uint8_t memory_[kBlocks * kBlock] = {};
  uint8_t segments_[kBlocks * kBlock / kSegment];
  const uintptr_t low_ = reinterpret_cast<uintptr_t>(memory_);
  const uintptr_t high_ = low_ + sizeof memory_;
  const uintptr_t map_ = reinterpret_cast<uintptr_t>(segments_);
  VmLayout vm_;
};

// A thread's stack on which code of such a heap was interrupted.
class WalkedStackTest : public testing::Test {
 protected:
  static constexpr uint64_t kCaller = 0x108;  // raw: no address of a method
  static constexpr int kStackWords = 96;

  uintptr_t Address(int index) const { return reinterpret_cast<uintptr_t>(stack_ + index); }
  void Set(int index, uintptr_t value) {
    context_.uc_mcontext.gregs[index] = static_cast<greg_t>(value);
  }
  // `memory`: the results of earlier walks; may be null.
  Chain Walk(LastWalk::Storage* memory) {
    Chain chain(frames_, kMaxFrames);
    const WalkedThread thread{0, {Address(0), Address(kStackWords)}, memory, &remembered_};
    WalkStack(&heap_.vm(), thread, &context_, chain);
    return chain;
  }

  alignas(8) static constexpr char kNmethod[24] = "nmethod";
  alignas(8) static constexpr char kStub[24] = "RuntimeStub - new_array";
  CodeHeap heap_;
  alignas(16) uintptr_t stack_[kStackWords];
  ucontext_t context_{};

 private:
  static constexpr uint32_t kMaxFrames = 64;
  Frame frames_[kMaxFrames];
  uint32_t remembered_ = 0;
};

}  // namespace jtrace::samples
