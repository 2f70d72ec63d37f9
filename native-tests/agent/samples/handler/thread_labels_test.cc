#include "agent/samples/handler/thread_labels.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace jtrace::samples {
namespace {

TEST(ThreadLabelsTest, APlatformThreadHasItsOwn) {
  ThreadSlot slot = {};
  slot.java_tid.store(7);
  const Identity own = {7, true};
  EXPECT_EQ(LabelsOf(own, slot), kNoLabels);
  EXPECT_TRUE(SetLabels(5, 0));
  EXPECT_EQ(LabelsOf(own, slot), 5u);
  std::thread([&] { EXPECT_EQ(LabelsOf(own, slot), kNoLabels); }).join();
  EXPECT_TRUE(SetLabels(kNoLabels, 0));
  EXPECT_EQ(LabelsOf(own, slot), kNoLabels);
}

TEST(ThreadLabelsTest, AVirtualThreadHasNotThoseOfItsCarrier) {
  ThreadSlot slot = {};
  slot.java_tid.store(7);
  SetLabels(5, 0);
  EXPECT_EQ(LabelsOf({100, true}, slot), kNoLabels);
  EXPECT_TRUE(SetLabels(6, 100));
  EXPECT_EQ(LabelsOf({100, true}, slot), 6u);
  EXPECT_EQ(LabelsOf({101, true}, slot), kNoLabels);
  EXPECT_EQ(LabelsOf({7, true}, slot), 5u);
  // Which virtual thread is mounted is not known.
  EXPECT_EQ(LabelsOf({0, false}, slot), kNoLabels);
  SetLabels(kUnknownLabels, 100);
  EXPECT_EQ(LabelsOfVirtualThread(100), kUnknownLabels);
  SetLabels(kNoLabels, 100);
  EXPECT_EQ(LabelsOfVirtualThread(100), kNoLabels);
  SetLabels(kNoLabels, 0);
}

// They set, read and clear their labels at the same time, on few carriers.
TEST(ThreadLabelsTest, ManyVirtualThreadsHaveTheirOwn) {
  constexpr uint64_t kThreads = 10'000;
  std::vector<std::thread> carriers;
  for (uint64_t carrier = 0; carrier < 4; ++carrier) {
    carriers.emplace_back([carrier] {
      for (uint64_t i = 0; i < kThreads; ++i) {
        const uint64_t tid = 1 + carrier + 4 * i;
        EXPECT_TRUE(SetLabels(static_cast<uint32_t>(1 + tid % 1000), tid));
      }
      for (uint64_t i = 0; i < kThreads; ++i) {
        const uint64_t tid = 1 + carrier + 4 * i;
        EXPECT_EQ(LabelsOfVirtualThread(tid), 1 + tid % 1000);
        if (i % 2 == 0) SetLabels(kNoLabels, tid);
      }
    });
  }
  for (std::thread& carrier : carriers) carrier.join();
  for (uint64_t tid = 1; tid <= 4 * kThreads; ++tid) {
    EXPECT_EQ(LabelsOfVirtualThread(tid), (tid - 1) / 4 % 2 == 0 ? kNoLabels : 1 + tid % 1000);
    SetLabels(kNoLabels, tid);
  }
}

TEST(ThreadLabelsTest, WithoutAPlaceAVirtualThreadHasNone) {
  constexpr uint64_t kTooMany = 80'000;
  uint64_t refused = 0;
  for (uint64_t tid = 1; tid <= kTooMany; ++tid) {
    const bool is_set = SetLabels(1, tid);
    refused += is_set ? 0 : 1;
    EXPECT_EQ(LabelsOfVirtualThread(tid), is_set ? 1u : kNoLabels);
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, kTooMany / 2);
  for (uint64_t tid = 1; tid <= kTooMany; ++tid) SetLabels(kNoLabels, tid);
  EXPECT_TRUE(SetLabels(1, kTooMany));
  SetLabels(kNoLabels, kTooMany);
}

}  // namespace
}  // namespace jtrace::samples
