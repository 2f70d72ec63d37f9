#include "agent/samples/walk/known_frames.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace jtrace::samples {
namespace {

// A made-up nmethod: its method and the number of its compilation.
class KnownFramesTest : public testing::Test {
 protected:
  void SetUp() override {
    vm_.nmethod.method = 0;
    vm_.nmethod.compile_id = 8;
    Compile(0x1000, 1);
  }
  void Compile(uint64_t method, uint32_t number) {
    std::memcpy(nmethod_, &method, sizeof method);
    std::memcpy(nmethod_ + 8, &number, sizeof number);
  }
  KnownFrame Of(uint32_t methods) const {
    KnownFrame frame{reinterpret_cast<uintptr_t>(nmethod_), false, 120, 112, true, methods, {}};
    for (uint32_t i = 0; i < methods && i < KnownFrame::kMaxMethods; ++i) {
      frame.methods[i] = {uint64_t{0x7fff'0000'0008} + 16 * i, 30'000 - static_cast<int32_t>(i),
                          i + 1 < methods ? FrameKind::kInlined : FrameKind::kCompiled, kFrameC1,
                          0};
    }
    return frame;
  }
  bool Keeps(const KnownFrame& frame) {
    const uintptr_t pc = next_pc_ += 16;
    KnownFrame found;
    RememberFrame(vm_, pc, false, frame);
    return FindKnownFrame(vm_, pc, false, &found);
  }

  VmLayout vm_;
  alignas(8) uint8_t nmethod_[16];
  uintptr_t next_pc_ = 0x7000'0000;
};

void ExpectSame(const KnownFrame& a, const KnownFrame& b) {
  EXPECT_EQ(a.nmethod, b.nmethod);
  EXPECT_EQ(a.sp_on_top, b.sp_on_top);
  EXPECT_EQ(a.return_offset, b.return_offset);
  EXPECT_EQ(a.fp_offset, b.fp_offset);
  EXPECT_EQ(a.sp_misaligned, b.sp_misaligned);
  ASSERT_EQ(a.count, b.count);
  for (uint32_t i = 0; i < a.count; ++i) {
    EXPECT_EQ(a.methods[i].value, b.methods[i].value);
    EXPECT_EQ(a.methods[i].bci, b.methods[i].bci);
    EXPECT_EQ(a.methods[i].kind, b.methods[i].kind);
    EXPECT_EQ(a.methods[i].flags, b.methods[i].flags);
  }
}

TEST_F(KnownFramesTest, ReturnsTheFramesItKept) {
  for (uint32_t methods = 1; methods <= KnownFrame::kMaxMethods; ++methods) {
    KnownFrame frame = Of(methods), found;
    frame.fp_offset = methods % 2 == 0 ? KnownFrame::kOwnFp : -8 * static_cast<int32_t>(methods);
    frame.sp_misaligned = methods % 3 == 0;
    frame.sp_on_top = methods % 4 == 0;
    frame.methods[0].bci = -1;
    RememberFrame(vm_, 0x5000 + methods, false, frame);
    ASSERT_TRUE(FindKnownFrame(vm_, 0x5000 + methods, false, &found));
    ExpectSame(found, frame);
  }
}

TEST_F(KnownFramesTest, InterruptedPcHasItsOwnEntry) {
  KnownFrame found;
  RememberFrame(vm_, 0x6000, true, Of(2));
  EXPECT_FALSE(FindKnownFrame(vm_, 0x6000, false, &found));
  EXPECT_TRUE(FindKnownFrame(vm_, 0x6000, true, &found));
  EXPECT_FALSE(FindKnownFrame(vm_, 0x6001, true, &found));
}

TEST_F(KnownFramesTest, ForgetsCodeThatWasReplaced) {
  KnownFrame found;
  RememberFrame(vm_, 0x8000, false, Of(1));
  Compile(0x1000, 2);
  EXPECT_FALSE(FindKnownFrame(vm_, 0x8000, false, &found));
  Compile(0x2000, 1);
  EXPECT_FALSE(FindKnownFrame(vm_, 0x8000, false, &found));
  Compile(0x1000, 1);
  EXPECT_TRUE(FindKnownFrame(vm_, 0x8000, false, &found));
}

TEST_F(KnownFramesTest, DoesNotKeepFramesThatDoNotFit) {
  EXPECT_TRUE(Keeps(Of(1)));
  EXPECT_FALSE(Keeps(Of(0)));
  EXPECT_FALSE(Keeps(Of(KnownFrame::kMaxMethods + 1)));
  KnownFrame frame = Of(1);
  frame.methods[0].flags = kFrameRawMethod | kFrameC1;
  EXPECT_TRUE(Keeps(frame));
  frame.methods[0].bci = 40'000;
  EXPECT_FALSE(Keeps(frame));
  frame = Of(1);
  frame.methods[0].value += 1;
  EXPECT_FALSE(Keeps(frame));
  frame = Of(1);
  frame.return_offset = 8 << 20;
  EXPECT_FALSE(Keeps(frame));
  frame = Of(1);
  frame.fp_offset = -1024;
  EXPECT_FALSE(Keeps(frame));
  vm_.nmethod.compile_id = kAbsent;
  EXPECT_FALSE(Keeps(Of(1)));
}

// Two frames that are kept for the same pc at once: the lookup finds one of them, never a mixture.
TEST_F(KnownFramesTest, NeverMixesFrames) {
  std::atomic<bool> done{false};
  const auto keep = [&](uint32_t methods) {
    const KnownFrame frame = Of(methods);
    while (!done) RememberFrame(vm_, 0x9000, false, frame);
  };
  std::thread first(keep, 3), second(keep, 9);
  for (int i = 0; i < 20'000; ++i) {
    KnownFrame found;
    if (!FindKnownFrame(vm_, 0x9000, false, &found)) continue;
    const KnownFrame expected = Of(found.count);
    EXPECT_TRUE(found.count == 3 || found.count == 9);
    for (uint32_t m = 0; m < found.count; ++m) {
      EXPECT_EQ(found.methods[m].kind, expected.methods[m].kind);
    }
  }
  done = true;
  first.join();
  second.join();
  KnownFrame found;
  RememberFrame(vm_, 0x9000, false, Of(3));
  EXPECT_TRUE(FindKnownFrame(vm_, 0x9000, false, &found));
}

}  // namespace
}  // namespace jtrace::samples
