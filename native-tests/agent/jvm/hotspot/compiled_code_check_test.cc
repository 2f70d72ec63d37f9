// Machine code of a method that makes a frame, described as HotSpot's nmethods are.
#include "agent/jvm/hotspot/compiled_code_check.h"

#include <gtest/gtest.h>

#include <cstring>

#include "agent/jvm/hotspot/machine_code.h"

namespace jtrace::jvm {
namespace {

constexpr int32_t kFrameWords = 6;  // with the return address and rbp

class CompiledCodeCheckTest : public ::testing::Test {
 protected:
  CompiledCodeCheckTest() {
    // mov [rsp - 0x14000], eax; push rbp; sub rsp, 32; nop…
    const uint8_t code[] = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55,
                            0x48, 0x83, 0xec, 0x20, 0x90, 0x90, 0x90, 0xc3};
    std::memcpy(nmethod_ + kCode, code, sizeof code);
    vm_.nmethod.method = kMethodAt;
    vm_.nmethod.verified_entry = kEntryAt;
    vm_.blob.frame_complete = kCompleteAt;
    vm_.method.const_method = 0;
    vm_.method.constants = 0;
    vm_.method.pool_holder = 0;
    Put<uint64_t>(kMethodAt, Address(&method_));
    Put<uint64_t>(kEntryAt, code_begin());
    Put<int32_t>(kCompleteAt, kMadeAt);
    method_ = Address(&const_method_);
    const_method_ = Address(&constants_);
    constants_ = Address(&holder_);
  }

  template <typename T>
  void Put(int at, T value) {
    std::memcpy(nmethod_ + at, &value, sizeof value);
  }
  static uint64_t Address(const void* object) { return reinterpret_cast<uintptr_t>(object); }
  uintptr_t code_begin() const { return Address(nmethod_ + kCode); }
  samples::CodeBlob blob(int32_t frame_words = kFrameWords) const {
    return {Address(nmethod_), code_begin(), Address(nmethod_ + sizeof nmethod_), frame_words,
            samples::BlobKind::kNmethod};
  }
  // Whether the layout is still used after so many compilations.
  bool IsUsedAfter(int compilations, int32_t frame_words = kFrameWords) {
    for (int i = 0; i < compilations; ++i) check_.Check(code_begin(), blob(frame_words));
    return vm_.compiled_code_readable.load();
  }

  static constexpr int kMethodAt = 0, kEntryAt = 8, kCompleteAt = 16, kCode = 32, kMadeAt = 12;
  alignas(16) uint8_t nmethod_[128] = {};
  alignas(8) uint64_t method_ = 0, const_method_ = 0, constants_ = 0, holder_ = 0;
  samples::VmLayout vm_;
  CompiledCodeCheck check_{&vm_};
};

TEST_F(CompiledCodeCheckTest, FindsWhereTheFrameIsMade) {
  EXPECT_EQ(FrameSetupEnd(code_begin(), blob()), std::optional(code_begin() + kMadeAt));
  EXPECT_EQ(FrameSetupEnd(code_begin(), blob(kFrameWords + 1)), std::optional<uintptr_t>(0));
  EXPECT_EQ(FrameSetupEnd(code_begin(), blob(2)), std::optional<uintptr_t>(0));
}

TEST_F(CompiledCodeCheckTest, UsesWhatAgrees) { EXPECT_TRUE(IsUsedAfter(100)); }

TEST_F(CompiledCodeCheckTest, FewCompilationsDecideNothing) { EXPECT_TRUE(IsUsedAfter(3, 9)); }

TEST_F(CompiledCodeCheckTest, RefusesAnotherFrameSize) { EXPECT_FALSE(IsUsedAfter(100, 9)); }

// jmp to the code that finds the method's new one.
TEST_F(CompiledCodeCheckTest, CodeThatIsOutOfUseSaysNothing) {
  nmethod_[kCode] = 0xe9;
  EXPECT_EQ(FrameSetupEnd(code_begin(), blob()), std::nullopt);
  EXPECT_TRUE(IsUsedAfter(100));
}

// cmp byte [r10 + 1], 4; je; cmp r15, [r10 + 8]; je; jmp: the class is being initialised.
TEST_F(CompiledCodeCheckTest, AWaitForTheClassSaysNothing) {
  const uint8_t barrier[] = {0x41, 0x80, 0x7a, 0x01, 0x04, 0x74, 0x0b, 0x4d,
                             0x3b, 0x7a, 0x08, 0x74, 0x05, 0xe9, 0x00, 0x01};
  std::memcpy(nmethod_ + kCode, barrier, sizeof barrier);
  EXPECT_EQ(FrameSetupEnd(code_begin(), blob()), std::nullopt);
  EXPECT_TRUE(IsUsedAfter(100));
}

TEST_F(CompiledCodeCheckTest, NativeWrappersSayNothing) {
  samples::CodeBlob native = blob();
  native.kind = samples::BlobKind::kNativeNmethod;
  for (int i = 0; i < 100; ++i) check_.Check(code_begin(), native);
  EXPECT_FALSE(IsUsedAfter(100, 9));
}

TEST_F(CompiledCodeCheckTest, RefusesAnEntryOutsideOfTheCode) {
  Put<uint64_t>(kEntryAt, code_begin() - 8);
  EXPECT_FALSE(IsUsedAfter(100));
}

TEST_F(CompiledCodeCheckTest, RefusesAFrameThatIsCompleteBeforeItIsMade) {
  Put<int32_t>(kCompleteAt, kMadeAt - 1);
  EXPECT_FALSE(IsUsedAfter(100));
}

TEST_F(CompiledCodeCheckTest, RefusesWhatIsNoMethod) {
  constants_ = 0;
  EXPECT_FALSE(IsUsedAfter(100));
}

TEST_F(CompiledCodeCheckTest, OneWrongAmongManyIsChance) {
  EXPECT_TRUE(IsUsedAfter(15));
  EXPECT_TRUE(IsUsedAfter(1, 9));
  EXPECT_TRUE(IsUsedAfter(50));
}

}  // namespace
}  // namespace jtrace::jvm
