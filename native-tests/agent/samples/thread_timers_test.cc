// The timer that a thread gets when there are not enough of the wanted kind.
#include "agent/samples/thread_timers.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "agent/samples/sampler.h"
#include "gtest/gtest.h"
#include "native-tests/agent/samples/burn.h"
#include "native-tests/agent/samples/unknown_jvm.h"
#include "native-tests/support/perf_refuses.h"

namespace jtrace::samples {
namespace {

uint64_t CountOf(const Sampler& sampler, const std::string& name) {
  for (const LossRow& loss : sampler.Losses()) {
    if (loss.name == name) return loss.count;
  }
  return 0;
}

// Threads that wait until the test is over.
class Waiting {
 public:
  explicit Waiting(int count) {
    for (int i = 0; i < count; ++i) {
      std::atomic<pid_t> tid{0};
      threads_.emplace_back([this, &tid] {
        tid = gettid();
        tid.notify_all();
        over_.wait(false);
      });
      tid.wait(0);
      tids_.push_back(tid);
    }
  }
  ~Waiting() {
    over_ = true;
    over_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  const std::vector<pid_t>& tids() const { return tids_; }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
  std::vector<pid_t> tids_;
};

// In a separate process (gtest_discover_tests), so that the limit affects no other test.
TEST(ThreadTimersTest, RequestedClocksFallBackToo) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 32;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  SamplerOptions options;
  options.timer = TimerKind::kPerfEvent;
  options.event = FindPerfEvent("task-clock");
  auto sampler = Sampler::Create(options, UnknownJvm());
  if (const std::string why = testing::PerfRefuses(PERF_COUNT_SW_TASK_CLOCK); !why.empty()) {
    GTEST_SKIP() << why;
  }
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_TRUE((*sampler)->Start(nullptr).ok());
  const Waiting threads(12);
  for (pid_t tid : threads.tids()) {
    const absl::Status status = (*sampler)->AttachThread(tid, 1, 0, 0);
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(CountOf(**sampler, "sample.timer_fallback"), 4u);  // a quarter of 32 got their event
  EXPECT_EQ(CountOf(**sampler, "sample.thread_not_attached"), 0u);
  ASSERT_TRUE((*sampler)->Stop().ok());
}

// Signals of the calling thread's timer, which nobody starts again.
std::atomic<int> g_overflows{0};
std::atomic<int> g_limits{0};
void MarkSampled(int, siginfo_t* info, void*) {
  ++(info->si_code == POLL_HUP ? g_limits : g_overflows);
}

// Until there are so many signals, or the thread has used much CPU time.
void RunWithTimer(const std::string& event, const std::string& kernel_release, int signals) {
  struct sigaction action {};
  action.sa_sigaction = MarkSampled;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ASSERT_EQ(sigaction(SIGVTALRM, &action, nullptr), 0);
  const TimerChoice choice = {.timer = TimerKind::kPerfEvent,
                              .interval = absl::Milliseconds(1),
                              .event = FindPerfEvent(event),
                              .period = 0,
                              .signal = SIGVTALRM,
                              .jitter = false,
                              .kernel_release = kernel_release};
  SamplerCounters counters;
  auto timers = ThreadTimers::Create(choice, counters);
  if (!timers.ok()) GTEST_SKIP() << timers.status();
  auto slot = std::make_unique<ThreadSlot>();
  slot->os_tid = gettid();
  ASSERT_TRUE((*timers)->Arm(slot.get()).ok());
  for (int i = 0; i < 200 && g_overflows + g_limits < signals; ++i) {
    Burn(absl::Milliseconds(2));
  }
  (*timers)->Disarm(slot.get());
  ThreadTimers::UnmapRing(slot.get());
}

// Linux 6.17 would hang: a clock has no limit there. POLL_HUP is the signal of a limit.
TEST(ThreadTimersTest, OnKernelsThatHangAClockHasNoLimit) {
  for (const char* const event : {"cpu-clock", "task-clock"}) {
    g_overflows = g_limits = 0;
    RunWithTimer(event, "6.17.0-5-generic", 5);
    if (IsSkipped()) return;
    EXPECT_GE(g_overflows, 5) << event;
    EXPECT_EQ(g_limits, 0) << event;
  }
}

TEST(ThreadTimersTest, OnOtherKernelsAClockStopsAtItsSignal) {
  g_overflows = g_limits = 0;
  RunWithTimer("cpu-clock", "6.12.0", 2);
  if (IsSkipped()) return;
  EXPECT_EQ(g_overflows, 0);
  EXPECT_EQ(g_limits, 1);
}

// A program that closes all descriptors closes those of timers, and the next timer gets the number.
TEST(ThreadTimersTest, AThreadEndsOnlyItsOwnTimer) {
  TimerChoice choice;
  choice.timer = TimerKind::kCpuPerf;
  SamplerCounters counters;
  auto timers = ThreadTimers::Create(choice, counters);
  if (!timers.ok()) GTEST_SKIP() << timers.status();
  auto first = std::make_unique<ThreadSlot>();
  auto second = std::make_unique<ThreadSlot>();
  first->os_tid = second->os_tid = gettid();
  ASSERT_TRUE((*timers)->Arm(first.get()).ok());
  const int fd = first->perf_fd;
  close(fd);
  ASSERT_TRUE((*timers)->Arm(second.get()).ok());
  ASSERT_EQ(second->perf_fd, fd);
  (*timers)->Disarm(first.get());
  EXPECT_TRUE(IsPerfEvent(fd));
  EXPECT_EQ((*timers)->slot_by_fd()[fd], second.get());
  (*timers)->Disarm(second.get());
  EXPECT_FALSE(IsPerfEvent(fd));
  for (ThreadSlot* slot : {first.get(), second.get()}) ThreadTimers::UnmapRing(slot);
}

// The ticks of all samples are the time of the kernel's clock event, whoever stops jtrace's own.
TEST(ThreadTimersTest, TicksAreCpuTimeOnEveryKernel) {
  for (const char* const release : {"6.12.0", "6.17.0-5-generic"}) {
    SamplerOptions options;
    options.timer = TimerKind::kCpuPerf;
    options.kernel_release = release;
    auto sampler = Sampler::Create(options, UnknownJvm());
    if (!sampler.ok()) GTEST_SKIP() << sampler.status();
    ASSERT_TRUE((*sampler)->Start(nullptr).ok());
    ASSERT_TRUE((*sampler)->AttachCurrentThread(nullptr, 1, 0).ok());
    const testing::CpuClock clock;
    const uint64_t before_ns = ThreadCpuNanos(gettid());
    uint64_t ticks = 0;
    for (int i = 0; i < 300; ++i) {
      Burn(absl::Milliseconds(1));
      absl::SleepFor(absl::Microseconds(100));  // leaves the processor
      (*sampler)->Drain([&](const SampleView& view) { ticks += view.header.weight; });
    }
    const uint64_t used = (ThreadCpuNanos(gettid()) - before_ns) / 1'000'000;
    const uint64_t clock_ms = clock.Nanos() / 1'000'000;
    ASSERT_TRUE((*sampler)->Stop().ok());
    EXPECT_GE(10 * ticks, 8 * used) << release;  // the handler's own time has no ticks
    EXPECT_LE(ticks, std::max(used, clock_ms) + 3) << release;
  }
}

TEST(ThreadTimersTest, ThreadsWithoutSlotAreDistinguishedFromEndedOnes) {
  SamplerOptions options;
  options.timer = TimerKind::kCpuPosix;
  options.max_threads = 2;
  auto sampler = Sampler::Create(options, UnknownJvm());
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_TRUE((*sampler)->Start(nullptr).ok());
  pid_t ended = 0;
  std::thread([&] { ended = gettid(); }).join();
  EXPECT_FALSE((*sampler)->AttachThread(ended, 1, 0, 0).ok());
  EXPECT_EQ(CountOf(**sampler, "sample.thread_ended"), 1u);
  const Waiting threads(3);
  for (pid_t tid : threads.tids()) (*sampler)->AttachThread(tid, 1, 0, 0).IgnoreError();
  EXPECT_EQ(CountOf(**sampler, "sample.no_slot"), 1u);
  EXPECT_EQ(CountOf(**sampler, "sample.thread_not_attached"), 0u);
  ASSERT_TRUE((*sampler)->Stop().ok());
}

}  // namespace
}  // namespace jtrace::samples
