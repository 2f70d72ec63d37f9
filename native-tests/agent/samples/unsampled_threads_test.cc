#include "agent/samples/unsampled_threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <memory>

#include "agent/base/clock.h"
#include "agent/samples/thread_timers.h"
#include "gtest/gtest.h"

namespace jtrace::samples {
namespace {

constexpr absl::Duration kSilence = absl::Milliseconds(20);

void Burn() {
  const uint64_t end = ThreadCpuNanos(gettid()) + 2 * 20'000'000;
  while (ThreadCpuNanos(gettid()) < end) {
  }
}

// The calling thread in slot 3, as in the sampler.
class SilentThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    slot_->os_tid = gettid();
    slot_->perf_fd = -1;
    slot_->state = SlotState::kAttached;
    watch_.Begin(kSilence, SIGPROF);
    watch_.Check(3, *slot_);
  }
  void BurnAndLookTwice() {
    Burn();
    watch_.Check(3, *slot_);
    watch_.Check(3, *slot_);
  }

  std::unique_ptr<ThreadSlot> slot_ = std::make_unique<ThreadSlot>();
  SamplerCounters counters_;
  UnsampledThreads watch_{counters_};
};

TEST_F(SilentThreadsTest, BlockedSignalsAreReportedOncePerThread) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
  EXPECT_TRUE(BlocksSignal(gettid(), SIGPROF));
  BurnAndLookTwice();
  BurnAndLookTwice();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  EXPECT_FALSE(BlocksSignal(gettid(), SIGPROF));
  EXPECT_EQ(counters_.signal_blocked, 1u);
  EXPECT_EQ(counters_.timer_silent, 0u);
}

TEST_F(SilentThreadsTest, ClosedDescriptorsAreReported) {
  slot_->perf_fd = open("/dev/null", O_RDONLY);  // the program's file with that number
  BurnAndLookTwice();
  close(slot_->perf_fd);
  EXPECT_EQ(counters_.timer_closed, 1u);
}

TEST_F(SilentThreadsTest, SampledAndIdleThreadsAreNotReported) {
  watch_.Check(3, *slot_);  // almost no CPU time
  watch_.Check(3, *slot_);
  for (int i = 0; i < 3; ++i) {
    Burn();
    watch_.NoteSample(3);
    watch_.Check(3, *slot_);
  }
  EXPECT_EQ(counters_.signal_blocked, 0u);
  EXPECT_EQ(counters_.timer_closed, 0u);
  EXPECT_EQ(counters_.timer_silent, 0u);
  // Silent from here on.
  BurnAndLookTwice();
  EXPECT_EQ(counters_.timer_silent, 1u);
}

TEST_F(SilentThreadsTest, TimersThatCountEventsAreNotWatched) {
  watch_.Begin(absl::ZeroDuration(), SIGPROF);
  watch_.Check(3, *slot_);
  BurnAndLookTwice();
  EXPECT_EQ(counters_.timer_silent, 0u);
}

}  // namespace
}  // namespace jtrace::samples
