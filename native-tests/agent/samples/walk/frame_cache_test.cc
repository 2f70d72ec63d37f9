#include "agent/samples/walk/frame_cache.h"

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
  CachedFrame Of(uint32_t methods) const {
    CachedFrame frame{reinterpret_cast<uintptr_t>(nmethod_), false, 120, 112, true, methods, {}};
    for (uint32_t i = 0; i < methods && i < CachedFrame::kMaxMethods; ++i) {
      frame.methods[i] = {uint64_t{0x7fff'0000'0008} + 16 * i, 30'000 - static_cast<int32_t>(i),
                          i + 1 < methods ? FrameKind::kInlined : FrameKind::kCompiled, kFrameC1,
                          0};
    }
    return frame;
  }
  bool Keeps(const CachedFrame& frame) {
    const uintptr_t pc = next_pc_ += 16;
    CachedFrame found;
    CacheFrame(vm_, pc, false, frame);
    return FindCachedFrame(vm_, pc, false, &found);
  }

  VmLayout vm_;
  alignas(8) uint8_t nmethod_[16];
  uintptr_t next_pc_ = 0x7000'0000;
};

void ExpectSame(const CachedFrame& a, const CachedFrame& b) {
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
  for (uint32_t methods = 1; methods <= CachedFrame::kMaxMethods; ++methods) {
    CachedFrame frame = Of(methods), found;
    frame.fp_offset = methods % 2 == 0 ? CachedFrame::kOwnFp : -8 * static_cast<int32_t>(methods);
    frame.sp_misaligned = methods % 3 == 0;
    frame.sp_on_top = methods % 4 == 0;
    frame.methods[0].bci = -1;
    CacheFrame(vm_, 0x5000 + methods, false, frame);
    ASSERT_TRUE(FindCachedFrame(vm_, 0x5000 + methods, false, &found));
    ExpectSame(found, frame);
  }
}

TEST_F(KnownFramesTest, InterruptedPcHasItsOwnEntry) {
  CachedFrame found;
  CacheFrame(vm_, 0x6000, true, Of(2));
  EXPECT_FALSE(FindCachedFrame(vm_, 0x6000, false, &found));
  EXPECT_TRUE(FindCachedFrame(vm_, 0x6000, true, &found));
  EXPECT_FALSE(FindCachedFrame(vm_, 0x6001, true, &found));
}

TEST_F(KnownFramesTest, ForgetsCodeThatWasReplaced) {
  CachedFrame found;
  CacheFrame(vm_, 0x8000, false, Of(1));
  Compile(0x1000, 2);
  EXPECT_FALSE(FindCachedFrame(vm_, 0x8000, false, &found));
  Compile(0x2000, 1);
  EXPECT_FALSE(FindCachedFrame(vm_, 0x8000, false, &found));
  Compile(0x1000, 1);
  EXPECT_TRUE(FindCachedFrame(vm_, 0x8000, false, &found));
}

TEST_F(KnownFramesTest, DoesNotKeepFramesThatDoNotFit) {
  EXPECT_TRUE(Keeps(Of(1)));
  EXPECT_FALSE(Keeps(Of(0)));
  EXPECT_FALSE(Keeps(Of(CachedFrame::kMaxMethods + 1)));
  CachedFrame frame = Of(1);
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
    const CachedFrame frame = Of(methods);
    while (!done) CacheFrame(vm_, 0x9000, false, frame);
  };
  std::thread first(keep, 3), second(keep, 9);
  for (int i = 0; i < 20'000; ++i) {
    CachedFrame found;
    if (!FindCachedFrame(vm_, 0x9000, false, &found)) continue;
    const CachedFrame expected = Of(found.count);
    EXPECT_TRUE(found.count == 3 || found.count == 9);
    for (uint32_t m = 0; m < found.count; ++m) {
      EXPECT_EQ(found.methods[m].kind, expected.methods[m].kind);
    }
  }
  done = true;
  first.join();
  second.join();
  CachedFrame found;
  CacheFrame(vm_, 0x9000, false, Of(3));
  EXPECT_TRUE(FindCachedFrame(vm_, 0x9000, false, &found));
}

}  // namespace
}  // namespace jtrace::samples
