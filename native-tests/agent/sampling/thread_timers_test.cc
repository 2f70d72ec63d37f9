// The timer that a thread gets when there are not enough of the wanted kind.
#include "agent/sampling/thread_timers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "agent/sampling/sampler.h"
#include "gtest/gtest.h"

namespace jtrace::sampling {
namespace {

uint64_t CountOf(const Sampler& sampler, const std::string& name) {
  for (const SampleLoss& loss : sampler.Losses()) {
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
  options.timer = TimerKind::kEvent;
  options.event = FindPerfEvent("task-clock");
  auto sampler = Sampler::Create(options, nullptr);
  if (!sampler.ok()) GTEST_SKIP() << sampler.status();
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

TEST(ThreadTimersTest, ThreadsWithoutSlotAreDistinguishedFromEndedOnes) {
  SamplerOptions options;
  options.timer = TimerKind::kPosix;
  options.max_threads = 2;
  auto sampler = Sampler::Create(options, nullptr);
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
}  // namespace jtrace::sampling
