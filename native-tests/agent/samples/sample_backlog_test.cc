#include "agent/samples/sample_backlog.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/ring_drainer.h"
#include "gtest/gtest.h"

namespace jtrace::samples {
namespace {

// A thread's ring, and a producer like the handler: a sample's number is its time, and it has as
// many frames as `Frames` says.
class Producer {
 public:
  explicit Producer(uint32_t capacity) : storage_(capacity / 8) {
    ring.Init(reinterpret_cast<std::byte*>(storage_.data()), capacity);
  }
  static uint32_t Frames(uint64_t number) { return static_cast<uint32_t>(number * 7 % 40); }
  // Two of three samples share their outer frames, which are at a low height.
  static uint64_t FrameAt(uint64_t number, uint32_t height) {
    return number % 3 != 0 && height < number % 30 ? height : number * 100 + height;
  }
  bool Push(uint64_t number) {
    const uint32_t frames = Frames(number);
    std::byte* const record =
        ring.Reserve(static_cast<uint32_t>(sizeof(SampleHeader) + frames * sizeof(Frame)));
    if (record == nullptr) return false;
    SampleHeader header{};
    header.time_ns = number;
    header.frame_count = frames;
    std::memcpy(record, &header, sizeof(header));
    for (uint32_t i = 0; i < frames; ++i) {
      Frame frame{};
      frame.value = FrameAt(number, frames - i);
      std::memcpy(record + sizeof(header) + i * sizeof(frame), &frame, sizeof(frame));
    }
    ring.Commit();
    return true;
  }

  signal_safe::SpscRing ring;

 private:
  std::vector<uint64_t> storage_;
};

bool IsWhole(const SampleView& view) {
  if (view.header.frame_count != Producer::Frames(view.header.time_ns)) return false;
  for (uint32_t i = 0; i < view.header.frame_count; ++i) {
    const uint32_t height = view.header.frame_count - i;
    if (view.frames[i].value != Producer::FrameAt(view.header.time_ns, height)) return false;
  }
  return true;
}

TEST(SampleBacklogTest, KeepsOrderAndSlots) {
  const auto backlog = *SampleBacklog::Create(1 << 16);
  Producer first(1 << 13), second(1 << 13);
  for (uint64_t i = 0; i < 6; ++i) ASSERT_TRUE((i % 2 == 0 ? first : second).Push(i));
  EXPECT_TRUE(backlog->Add(3, first.ring));
  EXPECT_TRUE(backlog->Add(8, second.ring));
  std::vector<std::pair<uint32_t, uint64_t>> taken;
  backlog->Drain([&](const SampleView& view) {
    EXPECT_TRUE(IsWhole(view));
    taken.emplace_back(view.thread_slot, view.header.time_ns);
  });
  EXPECT_EQ(taken, (std::vector<std::pair<uint32_t, uint64_t>>{
                       {3, 0}, {3, 2}, {3, 4}, {8, 1}, {8, 3}, {8, 5}}));
}

TEST(SampleBacklogTest, WhatDoesNotFitStaysInTheRing) {
  const auto backlog = *SampleBacklog::Create(1 << 12);
  Producer producer(1 << 14);
  uint64_t pushed = 0;
  while (producer.Push(pushed)) ++pushed;
  EXPECT_FALSE(backlog->Add(0, producer.ring));
  EXPECT_TRUE(backlog->IsFilling());
  uint64_t next = 0;
  const auto take = [&next](const SampleView& view) { EXPECT_EQ(view.header.time_ns, next++); };
  while (!backlog->Add(0, producer.ring)) backlog->Drain(take);
  backlog->Drain(take);
  EXPECT_EQ(next, pushed);
  EXPECT_FALSE(backlog->IsFilling());
}

// A stack of a thousand frames of which one changes.
TEST(SampleBacklogTest, TakesRoomForWhatChanged) {
  const auto backlog = *SampleBacklog::Create(1 << 16);
  std::vector<uint64_t> storage((1 << 16) / 8);
  signal_safe::SpscRing ring;
  ring.Init(reinterpret_cast<std::byte*>(storage.data()), 1 << 16);
  constexpr uint32_t kFrames = 1000, kSamples = 200;
  for (uint32_t sample = 0; sample < kSamples; ++sample) {
    std::byte* const record = ring.Reserve(sizeof(SampleHeader) + kFrames * sizeof(Frame));
    ASSERT_NE(record, nullptr);
    (new (record) SampleHeader{})->frame_count = kFrames;
    auto* const frames = reinterpret_cast<Frame*>(record + sizeof(SampleHeader));
    for (uint32_t i = 0; i < kFrames; ++i) {
      (new (&frames[i]) Frame{})->value = i == 0 ? sample + 5000 : i;
    }
    ring.Commit();
    ASSERT_TRUE(backlog->Add(1, ring)) << sample;
  }
  uint32_t taken = 0;
  backlog->Drain([&taken](const SampleView& view) {
    EXPECT_EQ(view.frames[0].value, 5000 + taken++);
    for (uint32_t i = 1; i < kFrames; ++i) ASSERT_EQ(view.frames[i].value, i);
  });
  EXPECT_EQ(taken, kSamples);
}

// A thread that is sampled, one that empties its ring, and a writer that is slow.
TEST(SampleBacklogTest, ThreeThreads) {
  constexpr uint64_t kSamples = 5'000;
  const auto backlog = *SampleBacklog::Create(1 << 13);
  Producer producer(1 << 13);
  std::thread sampled([&] {
    for (uint64_t i = 0; i < kSamples;) {
      if (producer.Push(i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::atomic<bool> done{false};
  std::thread mover([&] {
    while (!done) {
      backlog->Add(5, producer.ring);
      std::this_thread::yield();
    }
  });
  uint64_t next = 0;
  while (next < kSamples) {
    backlog->Drain([&next](const SampleView& view) {
      ASSERT_EQ(view.header.time_ns, next++);
      ASSERT_EQ(view.thread_slot, 5u);
      ASSERT_TRUE(IsWhole(view));
    });
  }
  done = true;
  sampled.join();
  mover.join();
}

TEST(RingWatchTest, ComesWhenARingFills) {
  RingDrainer watch;
  std::atomic<int> calls{0};
  watch.Start([&calls] {
    ++calls;
    calls.notify_all();
  });
  EXPECT_NE(watch.os_tid(), 0);
  samples_doorbell.Ring();
  calls.wait(0);
  watch.Stop();
  EXPECT_EQ(watch.os_tid(), 0);
  const int before = calls;
  samples_doorbell.Ring();
  EXPECT_EQ(calls, before);
}

}  // namespace
}  // namespace jtrace::samples
