// The sampler without a JVM: timers, signals, rings, threads that start and end.
#include "agent/samples/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "absl/time/clock.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/instrumented_unwinds.h"
#include "native-tests/agent/samples/burn.h"
#include "native-tests/agent/samples/unknown_jvm.h"
#include "native-tests/support/perf_refuses.h"

namespace jtrace::samples {
namespace {

class SamplerTest : public ::testing::TestWithParam<TimerKind> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::PerfRefuses(PERF_COUNT_SW_CPU_CLOCK);
        GetParam() == TimerKind::kCpuPerf && !why.empty()) {
      GTEST_SKIP() << why;
    }
    SamplerOptions options;
    options.timer = GetParam();
    auto sampler = Sampler::Create(options, UnknownJvm());
    ASSERT_TRUE(sampler.ok()) << sampler.status();
    sampler_ = *std::move(sampler);
    ASSERT_TRUE(sampler_->Start(nullptr).ok());
  }

  // Weight of the samples by thread number.
  std::map<uint32_t, uint64_t> DrainWeights() {
    std::map<uint32_t, uint64_t> weights;
    sampler_->Drain([&](const SampleView& sample) {
      weights[sample.header.thread_number] += sample.header.weight;
      ++samples_;
      if (sample.header.end == ChainEnd::kFailed) ++failed_;
      EXPECT_GT(sample.header.frame_count, 1u);
      EXPECT_FALSE(sample.header.position_known);
    });
    return weights;
  }

  // Uses the processor in steps until this thread has that many samples; returns how many
  // milliseconds it took. The kernel checks CPU timers only at its tick: a thread that others
  // preempt before that is hardly ever sampled.
  int64_t BurnUntilSampled(uint32_t thread, uint64_t samples, uint64_t* weight) {
    constexpr int64_t kStep = 50, kMost = 20'000;
    int64_t burned = 0;
    const uint64_t before = samples_;
    while (samples_ - before < samples && burned < kMost) {
      Burn(absl::Milliseconds(kStep));
      burned += kStep;
      *weight += DrainWeights()[thread];
    }
    return burned;
  }

  // Some chains may end early: the dynamic loader's lazy binding needs registers that the walker
  // does not follow.
  void TearDown() override {
    if (sampler_ == nullptr) return;
    std::string losses;
    for (const LossRow& loss : sampler_->Losses()) {
      losses += loss.name + " " + std::to_string(loss.count) + "; ";
    }
    EXPECT_LE(failed_, 1 + samples_ / 100) << losses;
    if (failed_ != 0) RecordProperty("losses", losses);
  }

  std::unique_ptr<Sampler> sampler_;
  uint64_t samples_ = 0;
  uint64_t failed_ = 0;
};

// Room for six samples in each ring.
SamplerOptions SmallRings() {
  SamplerOptions options;
  options.timer = TimerKind::kCpuPosix;
  options.max_frames = 2;
  options.ring_bytes = 1024;
  return options;
}

// The writer may be busy for long. The ring has room for 50 samples, so that the thread that
// empties it, once a quarter is filled, may wait for a processor meanwhile.
TEST(SamplerBacklogTest, KeepsSamplesUntilSomebodyDrains) {
  SamplerOptions options = SmallRings();
  options.ring_bytes = 8192;
  const auto sampler = *Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler->Start(nullptr).ok());
  ASSERT_TRUE(sampler->AttachCurrentThread(nullptr, 1, 0).ok());
  const auto taken = [] { return sample_counters.taken.load(); };
  const uint64_t before = taken();
  for (int i = 0; i < 20'000 && taken() < before + 200; ++i) {
    Burn(absl::Milliseconds(4));
    absl::SleepFor(absl::Milliseconds(2));
  }
  sampler->DetachCurrentThread();
  ASSERT_TRUE(sampler->Stop().ok());
  EXPECT_GE(taken(), before + 200);
  uint64_t drained = 0;
  sampler->Drain([&drained](const SampleView&) { ++drained; });
  EXPECT_EQ(drained, taken() - before);
  for (const LossRow& loss : sampler->Losses()) EXPECT_NE(loss.name, "sample.ring_full");
}

// A filling backlog does not wait for the next poll.
TEST(SamplerDoorbellTest, RingsWhenTheBacklogFills) {
  SamplerOptions options = SmallRings();
  options.backlog_bytes = 1024;
  const auto sampler = *Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler->Start(nullptr).ok());
  while (signal_safe::writer_doorbell.Wait(0)) {
  }
  ASSERT_TRUE(sampler->AttachCurrentThread(nullptr, 1, 0).ok());
  bool rung = false;
  for (int i = 0; i < 400 && !rung; ++i) {
    Burn(absl::Milliseconds(50));
    rung = signal_safe::writer_doorbell.Wait(0);
  }
  sampler->DetachCurrentThread();
  EXPECT_TRUE(rung);
  ASSERT_TRUE(sampler->Stop().ok());
  sampler->Drain([](const SampleView&) {});
}

TEST_P(SamplerTest, WithoutAJvmSaysSoAndSamplesNativeFrames) {
  EXPECT_FALSE(sampler_->jvm().problem().empty());
  ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 7, 0).ok());
  uint64_t weight = 0;
  const int64_t burned = BurnUntilSampled(7, 30, &weight);
  sampler_->DetachCurrentThread();
  EXPECT_GE(samples_, 30u);
  // One tick a millisecond of CPU time; the bounds only rule out another unit.
  EXPECT_GT(weight, burned / 3u);
  EXPECT_LT(weight, burned * 2u);
}

TEST_P(SamplerTest, ThreadMayAttachItselfAgain) {
  ASSERT_TRUE(sampler_->AttachThread(gettid(), 1, 0, 0).ok());
  uint64_t before = 0;
  BurnUntilSampled(1, 1, &before);
  ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 2, 0).ok());
  DrainWeights();
  uint64_t after = 0;
  BurnUntilSampled(2, 1, &after);
  sampler_->DetachCurrentThread();
  EXPECT_GT(before, 0u);
  EXPECT_GT(after, 0u);
}

TEST_P(SamplerTest, DetachedThreadIsNoLongerSampled) {
  ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
  sampler_->DetachCurrentThread();
  DrainWeights();
  Burn(absl::Milliseconds(50));
  EXPECT_TRUE(DrainWeights().empty());
}

TEST_P(SamplerTest, AttachesRunningThreadsFromOutside) {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    tid = gettid();
    while (!stop) Burn(absl::Milliseconds(1));
  });
  while (tid == 0) std::this_thread::yield();
  ASSERT_TRUE(sampler_->AttachThread(tid, 8, 0, 0).ok());
  ASSERT_TRUE(sampler_->AttachThread(tid, 9, 0, 0).ok());  // with better data now
  std::map<uint32_t, uint64_t> weights;
  for (int i = 0; i < 1000 && weights[9] < 20; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    for (const auto& [thread, weight] : DrainWeights()) weights[thread] += weight;
  }
  stop = true;
  busy.join();
  EXPECT_GE(weights[9], 20u);
  weights.erase(8);  // samples from in between
  EXPECT_EQ(weights.size(), 1u);
  // It ended without notice; the sweep finds out, and the slot is reused.
  sampler_->SweepEndedThreads();
  DrainWeights();
  ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 10, 0).ok());
}

TEST_P(SamplerTest, ThreadsComeAndGo) {
  std::atomic<int> attached{0};
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        if (sampler_->AttachCurrentThread(nullptr, 3, 0).ok()) ++attached;
        Burn(absl::Milliseconds(2));
        sampler_->DetachCurrentThread();
      });
    }
    for (std::thread& thread : threads) thread.join();
    DrainWeights();
  }
  EXPECT_EQ(attached, 160);
}

TEST_P(SamplerTest, StopEndsSampling) {
  ASSERT_TRUE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
  Burn(absl::Milliseconds(20));
  EXPECT_TRUE(sampler_->Stop().ok());
  DrainWeights();
  Burn(absl::Milliseconds(30));
  EXPECT_TRUE(DrainWeights().empty());
  EXPECT_FALSE(sampler_->AttachCurrentThread(nullptr, 1, 0).ok());
}

// A handler that stays: its thread is stopped, or waits for memory.
TEST(SamplerStopTest, TheNextRecordingWaitsForHandlers) {
  const SamplerOptions options;
  const auto sampler = *Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler->Start(nullptr).ok());
  signal_safe::handlers_in_flight.Enter();
  EXPECT_EQ(sampler->Stop(absl::Milliseconds(1)).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(sampler->Reconfigure(options).code(), absl::StatusCode::kUnavailable);
  signal_safe::handlers_in_flight.Leave();
  EXPECT_TRUE(sampler->Reconfigure(options).ok());
  ASSERT_TRUE(sampler->Start(nullptr).ok());
  EXPECT_TRUE(sampler->Stop().ok());
}

INSTANTIATE_TEST_SUITE_P(Timers, SamplerTest,
                         ::testing::Values(TimerKind::kCpuPerf, TimerKind::kCpuPosix),
                         [](const auto& info) {
                           return info.param == TimerKind::kCpuPerf ? "Perf" : "Posix";
                         });

// Every tick is in a sample, or reported as lost.
TEST(SamplerRingTest, DroppedSamplesCountTheirTicks) {
  SamplerOptions options;
  options.timer = TimerKind::kCpuPosix;
  options.max_frames = 8;
  options.ring_bytes = 1024;
  auto sampler = Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_TRUE((*sampler)->Start(nullptr).ok());
  ASSERT_TRUE((*sampler)->AttachCurrentThread(nullptr, 1, 0).ok());
  const auto count_of = [&](const std::string& name) -> uint64_t {
    for (const LossRow& loss : (*sampler)->Losses()) {
      if (loss.name == name) return loss.count;
    }
    return 0;
  };
  const uint64_t begin = CurrentThreadCpuNanos();
  while (count_of("sample.ring_full") < 20 && CurrentThreadCpuNanos() - begin < 20'000'000'000) {
    Burn(absl::Milliseconds(20));
  }
  const uint64_t burned_ms = (CurrentThreadCpuNanos() - begin) / 1'000'000;
  ASSERT_TRUE((*sampler)->Stop().ok());
  EXPECT_GE(count_of("sample.lost_ticks"), count_of("sample.ring_full"));
  uint64_t ticks = count_of("sample.lost_ticks");
  (*sampler)->Drain([&](const SampleView& view) { ticks += view.header.weight; });
  // One a millisecond; the bounds only rule out that the weight of dropped ones is missing.
  EXPECT_GT(ticks, burned_ms / 3);
  EXPECT_LE(ticks, burned_ms + 5);
}

TEST(SamplerRingTest, AnUnwindThatDoesNotFitIsCountedOnce) {
  SamplerOptions options;
  options.timer = TimerKind::kCpuPosix;
  options.interval = absl::Seconds(10);  // no samples meanwhile
  options.max_frames = 8;
  options.ring_bytes = options.backlog_bytes = 1024;
  auto sampler = Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_TRUE((*sampler)->Start(nullptr).ok());
  ASSERT_TRUE((*sampler)->AttachCurrentThread(nullptr, 1, 0).ok());
  ASSERT_TRUE(instrumented_unwinds.Set(1, 1));
  for (int i = 0; i < 100; ++i) UnwindAtEntry(1);
  EXPECT_GT(instrumented_unwinds.missed(), 0u);
  for (const LossRow& loss : (*sampler)->Losses()) EXPECT_NE(loss.name, "sample.ring_full");
  instrumented_unwinds.Clear();
  EXPECT_TRUE((*sampler)->Stop().ok());
}

TEST(SamplerOptionsTest, AutoTakesPerfForShortIntervals) {
  if (const std::string why = testing::PerfRefuses(PERF_COUNT_SW_CPU_CLOCK); !why.empty()) {
    GTEST_SKIP() << why;
  }
  SamplerOptions options;
  options.timer = TimerKind::kAuto;
  options.interval = absl::Microseconds(200);
  EXPECT_EQ((*Sampler::Create(options, UnknownJvm()))->timer_in_use(), TimerKind::kCpuPerf);
}

TEST(SamplerOptionsTest, RejectsImpossibleOptions) {
  SamplerOptions options;
  options.signal = SIGRTMIN + 3;
  EXPECT_FALSE(Sampler::Create(options, UnknownJvm()).ok());
  options = {};
  options.interval = absl::Nanoseconds(100);
  EXPECT_FALSE(Sampler::Create(options, UnknownJvm()).ok());
  options = {};
  options.ring_bytes = 100'000;
  EXPECT_FALSE(Sampler::Create(options, UnknownJvm()).ok());
  options = {};
  options.max_frames = 100'000;
  EXPECT_FALSE(Sampler::Create(options, UnknownJvm()).ok());
}

}  // namespace
}  // namespace jtrace::samples
