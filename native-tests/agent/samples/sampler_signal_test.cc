// The sampler's signal and the program's own handlers; what lasts longer than a recording.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "agent/base/perf_event.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/sampler.h"
#include "native-tests/agent/samples/burn.h"
#include "native-tests/agent/samples/unknown_jvm.h"

namespace jtrace::samples {
namespace {

std::atomic<int> foreign_signals{0};
void CountForeign(int, siginfo_t*, void*) { ++foreign_signals; }

// In a separate process (gtest_discover_tests): the first handler stays behind ours.
TEST(SamplerSignalTest, ForeignSignalsReachTheirHandler) {
  struct sigaction action {};
  action.sa_sigaction = CountForeign;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGVTALRM, &action, nullptr), 0);
  SamplerOptions options;
  options.signal = SIGVTALRM;
  auto sampler = Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler.ok());
  ASSERT_TRUE((*sampler)->Start(nullptr).ok());
  ASSERT_TRUE((*sampler)->AttachCurrentThread(nullptr, 1, 0).ok());
  uint64_t samples = 0;
  const auto drain = [&] { (*sampler)->Drain([&](const SampleView&) { ++samples; }); };
  // The kernel checks CPU timers only at its tick: a thread that others preempt before that is
  // hardly ever sampled. So it runs as long as necessary.
  int raised = 0;
  for (; raised < 50 || (samples <= 10 && raised < 5000); ++raised) {
    Burn(absl::Milliseconds(2));
    raise(SIGVTALRM);
    drain();
  }
  EXPECT_GT(samples, 10u);
  EXPECT_LE(foreign_signals, raised);
  // Signals of one number do not queue: each missing one coincided with one of ours.
  EXPECT_GT(foreign_signals, raised / 2);
  EXPECT_LE(static_cast<uint64_t>(raised - foreign_signals), samples);
  ASSERT_TRUE((*sampler)->Stop().ok());
  const int before = foreign_signals;
  raise(SIGVTALRM);
  EXPECT_EQ(foreign_signals, before + 1);
}

std::unique_ptr<Sampler> StartedOn(int signal) {
  SamplerOptions options;
  options.signal = signal;
  options.timer = TimerKind::kCpuPosix;
  auto sampler = Sampler::Create(options, UnknownJvm());
  if (!sampler.ok() || !(*sampler)->Start(nullptr).ok()) return nullptr;
  return *std::move(sampler);
}

void HandleForeign(int signal) {
  struct sigaction action {};
  action.sa_sigaction = CountForeign;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

TEST(SamplerSignalTest, EachSignalKeepsTheHandlerBeforeOurs) {
  HandleForeign(SIGVTALRM);
  auto sampler = StartedOn(SIGVTALRM);
  ASSERT_NE(sampler, nullptr);
  ASSERT_TRUE(sampler->Stop().ok());
  SamplerOptions other;
  other.signal = SIGPROF;  // whose default action would end this process
  ASSERT_TRUE(sampler->Reconfigure(other).ok());
  ASSERT_TRUE(sampler->Start(nullptr).ok());
  const int before = foreign_signals;
  raise(SIGVTALRM);
  EXPECT_EQ(foreign_signals, before + 1);
  EXPECT_TRUE(sampler->Stop().ok());
}

TEST(SamplerSignalTest, AHandlerThatReplacesOursIsKept) {
  auto sampler = StartedOn(SIGVTALRM);
  ASSERT_NE(sampler, nullptr);
  ASSERT_TRUE(sampler->AttachCurrentThread(nullptr, 1, 0).ok());
  HandleForeign(SIGVTALRM);
  sampler->Drain([](const SampleView&) {});  // as the writer does all the time
  const int before = foreign_signals;
  Burn(absl::Milliseconds(100));
  EXPECT_LE(foreign_signals, before + 1);  // one may have been pending
  EXPECT_FALSE(sampler->AttachCurrentThread(nullptr, 1, 0).ok());
  const auto losses = sampler->Losses();
  EXPECT_TRUE(std::any_of(losses.begin(), losses.end(), [](const LossRow& loss) {
    return loss.name == "sample.handler_replaced" && loss.count == 1;
  }));
  EXPECT_TRUE(sampler->Stop().ok());
}

// A thread's slot was given to another one: a foreign signal must not start that one's timer.
TEST(SamplerSignalTest, AForeignSignalLeavesOtherThreadsTimersAlone) {
  HandleForeign(SIGVTALRM);
  auto sampler = StartedOn(SIGVTALRM);
  ASSERT_NE(sampler, nullptr);
  const PerfEvent& clock = *FindPerfEvent("task-clock");
  const auto timer = OpenPerfEvent({gettid(), clock, 1'000'000'000'000, SIGURG});
  if (!timer.ok()) GTEST_SKIP() << timer.status();
  auto slot = std::make_unique<ThreadSlot>();
  slot->perf_fd = timer->fd;
  slot->os_tid = gettid() + 1;
  tls_thread_slot = slot.get();
  tls_os_tid = gettid();
  raise(SIGVTALRM);
  tls_thread_slot = nullptr;
  Burn(absl::Milliseconds(5));
  uint64_t count = 1;
  ASSERT_EQ(read(timer->fd, &count, sizeof count), static_cast<ssize_t>(sizeof count));
  EXPECT_EQ(count, 0u);
  ClosePerfEvent(timer->fd);
  EXPECT_TRUE(sampler->Stop().ok());
}

TEST(SamplerLifeTest, LeftoversAreNotInTheNextRecording) {
  auto sampler = StartedOn(SIGPROF);
  ASSERT_NE(sampler, nullptr);
  ASSERT_TRUE(sampler->AttachCurrentThread(nullptr, 1, 0).ok());
  const uint64_t before = sample_counters.taken.load();
  while (sample_counters.taken.load() < before + 3) Burn(absl::Milliseconds(2));
  ASSERT_TRUE(sampler->Stop().ok());
  ASSERT_TRUE(sampler->Start(nullptr).ok());
  int samples = 0;
  sampler->Drain([&](const SampleView&) { ++samples; });
  EXPECT_EQ(samples, 0);
  EXPECT_TRUE(sampler->Stop().ok());
}

TEST(SamplerLifeTest, KnowingTheJvmIsNotSampling) {
  SamplerOptions options;
  auto sampler = Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler.ok());
  ASSERT_TRUE((*sampler)->ResolveJvm(nullptr).ok());
  EXPECT_FALSE((*sampler)->AttachCurrentThread(nullptr, 1, 0).ok());
}

}  // namespace
}  // namespace jtrace::samples
