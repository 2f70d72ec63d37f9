// The parts of the sample handler except walking: the kernel's ring, buckets, sets.
#include <linux/perf_event.h>

#include <cstring>
#include <random>
#include <vector>

#include "agent/base/perf_ring.h"
#include "agent/jvm/hotspot/address_set.h"
#include "agent/samples/handler/kernel_frames.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/walk/walker.h"
#include "agent/signal_safe/cost_histogram.h"
#include "gtest/gtest.h"

namespace jtrace::samples {
namespace {

TEST(CostBucketsTest, KeepTimesWithinASixteenth) {
  int last = -1;
  for (uint64_t ns = 0; ns < 100'000'000; ns = ns + 1 + ns / 50) {
    const int bucket = signal_safe::CostBucket(ns);
    ASSERT_GE(bucket, last);
    ASSERT_LT(bucket, signal_safe::kCostBuckets);
    ASSERT_NEAR(static_cast<double>(signal_safe::CostOfBucket(bucket)), static_cast<double>(ns),
                static_cast<double>(ns) / 16);
    last = bucket;
  }
  EXPECT_EQ(signal_safe::CostBucket(UINT64_MAX), signal_safe::kCostBuckets - 1);
}

// The clock stands at the moment when the next one is asked for.
TEST(SampleScheduleTest, OneMomentIsInEachInterval) {
  constexpr uint64_t kInterval = 1'000'000;
  constexpr int kMoments = 10'000;
  constexpr int kTenths = 10;
  SampleSchedule schedule = SampleSchedule::Of(kInterval, 7);
  uint64_t now = 0, ticks = 0;
  int in_tenth[kTenths] = {};
  for (int i = 0; i < kMoments; ++i) {
    now += schedule.WaitAfter(now);
    ticks += schedule.ticks;
    ASSERT_EQ(now / kInterval, ticks - 1);
    ++in_tenth[now % kInterval * kTenths / kInterval];
  }
  for (const int count : in_tenth) EXPECT_NEAR(count, kMoments / kTenths, 5 * 30);  // 5 sigma
}

TEST(SampleScheduleTest, WithoutASeedMomentsAreTheEndsOfIntervals) {
  SampleSchedule schedule = SampleSchedule::Of(1'000'000, 0);
  EXPECT_EQ(schedule.WaitAfter(0), 1'000'000u);
  EXPECT_EQ(schedule.WaitAfter(1'000'400), 999'600u);
  EXPECT_EQ(schedule.ticks, 1u);
}

TEST(SampleScheduleTest, MissedIntervalsBelongToTheNextMoment) {
  SampleSchedule schedule = SampleSchedule::Of(1'000'000, 0);
  schedule.WaitAfter(0);
  // Late by three intervals and a half: one tick for the moment, three for those that ended since.
  EXPECT_EQ(schedule.TicksUntil(4'500'000), 4u);
  EXPECT_EQ(schedule.WaitAfter(4'500'000), 500'000u);
  EXPECT_EQ(schedule.WaitAfter(5'995'000), 1'005'000u);  // 6,000,000 is too near
  EXPECT_EQ(schedule.ticks, 2u);
}

TEST(AddressSetTest, HoldsAllAddressesWhileItGrows) {
  jvm::AddressSet methods;
  std::mt19937_64 random(7);
  std::vector<uintptr_t> added;
  for (int i = 0; i < 20'000; ++i) {
    added.push_back(random() | 1);
    methods.Add(added.back());
  }
  const signal_safe::AddressTable& table = *methods.published()->load();
  for (const uintptr_t method : added) EXPECT_TRUE(table.Contains(method));
  // Even numbers were not added.
  for (int i = 0; i < 20'000; ++i) EXPECT_FALSE(table.Contains(random() << 1 | 2));
  methods.Clear();
  EXPECT_FALSE(methods.published()->load()->Contains(added[0]));
}

TEST(IsApplicationTest, NeedsAMethodOfTheSet) {
  jvm::AddressSet methods;
  methods.Add(0x1000);
  const signal_safe::AddressTable& table = *methods.published()->load();
  EXPECT_TRUE(IsApplication({0x1000, 3, FrameKind::kCompiled, 0, 0}, table));
  EXPECT_TRUE(IsApplication({0x1000, 3, FrameKind::kInlined, kFrameC1, 0}, table));
  EXPECT_FALSE(IsApplication({0x1008, 3, FrameKind::kCompiled, 0, 0}, table));
  // The set has ids and Methods: frames have the one or the other.
  EXPECT_TRUE(IsApplication({0x1000, 3, FrameKind::kInterpreted, kFrameRawMethod, 0}, table));
  EXPECT_FALSE(IsApplication({0x1000, -1, FrameKind::kNative, 0, 0}, table));
  EXPECT_TRUE(IsApplication({1, -1, FrameKind::kMarker, 0, 0}, table));
}

// A ring as the kernel writes it.
class FakeRing {
 public:
  FakeRing() : memory_(4096 + kKernelRingBytes) { head().data_offset = 4096; }

  void* memory() { return memory_.data(); }
  // Records from here on wrap around.
  void StartAt(uint64_t position) { head().data_head = head().data_tail = position; }
  void Add(uint32_t type, const std::vector<uint64_t>& words) {
    perf_event_header header{};
    header.type = type;
    header.size = static_cast<uint16_t>(sizeof header + 8 * words.size());
    uint64_t word;
    std::memcpy(&word, &header, sizeof word);
    Put(word);
    for (const uint64_t it : words) Put(it);
  }
  bool empty() { return head().data_head == head().data_tail; }

 private:
  perf_event_mmap_page& head() { return *reinterpret_cast<perf_event_mmap_page*>(memory_.data()); }
  void Put(uint64_t word) {
    std::memcpy(memory_.data() + 4096 + head().data_head % kKernelRingBytes, &word, sizeof word);
    head().data_head = head().data_head + 8;
  }
  std::vector<char> memory_;
};

constexpr auto kKernel = static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
constexpr auto kUser = static_cast<uint64_t>(PERF_CONTEXT_USER);

std::vector<uint64_t> KernelFrames(FakeRing& ring, uint32_t limit) {
  Frame storage[64];
  Chain chain(storage, 64);
  PushKernelFrames(ring.memory(), limit, chain);
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < chain.pushed(); ++i) {
    EXPECT_EQ(chain.pushed_frame(i).kind, FrameKind::kKernel);
    addresses.push_back(chain.pushed_frame(i).value);
  }
  EXPECT_TRUE(ring.empty());
  return addresses;
}

TEST(KernelFramesTest, TakesTheKernelsPartOfTheNewestSample) {
  FakeRing ring;
  ring.StartAt(kKernelRingBytes - 24);
  ring.Add(PERF_RECORD_SAMPLE, {2, kKernel, 0xffff1});
  ring.Add(PERF_RECORD_LOST, {1, 2});
  ring.Add(PERF_RECORD_SAMPLE, {5, kKernel, 0xffff2, 0xffff3, kUser, 0x7f01});
  EXPECT_EQ(KernelFrames(ring, 10), (std::vector<uint64_t>{0xffff2, 0xffff3}));
  EXPECT_TRUE(KernelFrames(ring, 10).empty());
  ring.Add(PERF_RECORD_SAMPLE, {3, kKernel, 0xffff2, 0xffff3});
  EXPECT_EQ(KernelFrames(ring, 1), (std::vector<uint64_t>{0xffff2}));
}

TEST(KernelFramesTest, IgnoresACountThatExceedsTheRecord) {
  FakeRing ring;
  ring.Add(PERF_RECORD_SAMPLE, {1000, kKernel, 0xffff2});
  EXPECT_EQ(KernelFrames(ring, 100), (std::vector<uint64_t>{0xffff2}));
  ring.Add(PERF_RECORD_SAMPLE, {2, kUser, 0x7f01});
  EXPECT_TRUE(KernelFrames(ring, 100).empty());
}

}  // namespace
}  // namespace jtrace::samples
