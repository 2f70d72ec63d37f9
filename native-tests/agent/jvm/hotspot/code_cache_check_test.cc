// A code cache of one heap, described as HotSpot's.
#include "agent/jvm/hotspot/code_cache_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gmock/gmock.h"

namespace jtrace::jvm {
namespace {

using ::testing::HasSubstr;

class CodeCacheCheckTest : public ::testing::Test {
 protected:
  CodeCacheCheckTest() {
    layout_.code_low = &low_;
    layout_.code_high = &high_;
    layout_.heaps[0] = {&low_, &high_, &map_address_, kShift};
    layout_.heap_count = 1;
    layout_.heap_block_header = kHeader;
    layout_.heap_block_used = 8;
    layout_.blob.name = 0;
    layout_.blob.code_begin = 8;
    layout_.blob.size = 16;
    layout_.blob.frame_size = 20;
  }

  // The adapters come first, as from an AOT cache.
  void Fill(int adapters, const char* stubs = "StubRoutines (initial stubs)") {
    for (int i = 0; i < adapters; ++i) AddBlob("I2C/C2I adapters", 2);
    const uintptr_t interpreter = AddBlob("Interpreter", 700);  // several hops of the map
    layout_.interpreter_low = interpreter;
    layout_.interpreter_high = End();
    layout_.call_stub_return = AddBlob(stubs, 4) + 60;
    Put(layout_.call_stub_return - sizeof kCall, kCall);
  }
  // Returns where its code begins.
  uintptr_t AddBlob(const char* name, int segments) {
    const uintptr_t block = Address(memory_) + used_ * kSegment;
    const uintptr_t blob = block + kHeader, code = blob + 32;
    reinterpret_cast<uint8_t*>(block)[8] = 1;
    Put<uint64_t>(blob, Address(name));
    Put<uint64_t>(blob + 8, code);
    Put<int32_t>(blob + 16, static_cast<int32_t>(segments * kSegment - kHeader));
    for (int i = 0; i < segments; ++i) map_[used_++] = static_cast<uint8_t>(i < 254 ? i : 254);
    return code;
  }
  uintptr_t End() const { return Address(memory_) + used_ * kSegment; }
  static uintptr_t Address(const void* object) { return reinterpret_cast<uintptr_t>(object); }
  template <typename T>
  static void Put(uintptr_t at, T value) {
    std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
  }

  // blr x4 of aarch64, which is the distance of a call of x86-64 with the byte before it.
  static constexpr uint64_t kCall = 0xd63f'0080'e800'0000;
  static constexpr uint32_t kShift = 6, kHeader = 16;
  static constexpr size_t kSegment = size_t{1} << kShift, kSegments = 2048;
  alignas(64) uint8_t memory_[kSegments * kSegment] = {};
  std::vector<uint8_t> map_ = std::vector<uint8_t>(kSegments, 0xff);
  size_t used_ = 0;
  uintptr_t low_ = Address(memory_), high_ = Address(memory_ + sizeof memory_);
  uintptr_t map_address_ = Address(map_.data());
  samples::VmLayout layout_;
};

TEST_F(CodeCacheCheckTest, AcceptsWhatIsAsDescribed) {
  Fill(3);
  EXPECT_TRUE(CheckCodeCache(layout_).ok());
}

TEST_F(CodeCacheCheckTest, FindsTheStubsAfterManyBlobs) {
  Fill(500);
  EXPECT_TRUE(CheckCodeCache(layout_).ok()) << CheckCodeCache(layout_);
}

TEST_F(CodeCacheCheckTest, NeedsTheInterpreterInItsBlob) {
  Fill(3);
  layout_.interpreter_low += 128;
  EXPECT_THAT(CheckCodeCache(layout_).message(), HasSubstr("interpreter"));
}

TEST_F(CodeCacheCheckTest, FindsTheCallStubInBlobsOfAnyName) {
  Fill(3, "initial_blob (stub gen)");
  EXPECT_TRUE(CheckCodeCache(layout_).ok()) << CheckCodeCache(layout_);
}

TEST_F(CodeCacheCheckTest, NeedsTheCallStubAfterACall) {
  Fill(3);
  layout_.call_stub_return += 4;
  EXPECT_THAT(CheckCodeCache(layout_).message(), HasSubstr("call stub"));
  layout_.call_stub_return = layout_.interpreter_low + 64;
  Put(layout_.call_stub_return - sizeof kCall, kCall);
  EXPECT_THAT(CheckCodeCache(layout_).message(), HasSubstr("call stub"));
}

TEST_F(CodeCacheCheckTest, FindsNoCallStubInCompiledCode) {
  Fill(3, "nmethod");
  EXPECT_THAT(CheckCodeCache(layout_).message(), HasSubstr("call stub"));
}

TEST_F(CodeCacheCheckTest, RefusesFieldsOfTheWrongPlace) {
  Fill(3);
  layout_.blob.size = 8;
  EXPECT_FALSE(CheckCodeCache(layout_).ok());
  layout_.blob.size = 16;
  layout_.blob.name = 16;
  EXPECT_FALSE(CheckCodeCache(layout_).ok());
}

TEST_F(CodeCacheCheckTest, RefusesMemoryThatIsNotMapped) {
  Fill(3);
  map_address_ = 4096;
  EXPECT_THAT(CheckCodeCache(layout_).message(), HasSubstr("segment map"));
  layout_.code_low = nullptr;
  EXPECT_THAT(CheckCodeCache(layout_).message(), HasSubstr("bounds"));
}

}  // namespace
}  // namespace jtrace::jvm
