// Events of the kernel in threads that start, end, and run before.
#include "agent/metrics/thread_perf_events.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/metrics/thread_counters.h"
#include "native-tests/support/perf_refuses.h"

namespace jtrace::metrics {
namespace {

constexpr signal_safe::AllocLayout kNoLayout;
constexpr auto kFaults = static_cast<uint32_t>(Metric::kPathFaults);
constexpr size_t kPages = 300;

// One page fault a page.
void TouchPages() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* const memory = static_cast<char*>(
      mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kPages * page, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, kPages * page);
}

class KernelEventsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer delays signals, and events stop until their handler has run";
#endif
    const std::string why = testing::PerfRefuses(PERF_COUNT_SW_PAGE_FAULTS);
    if (!why.empty()) GTEST_SKIP() << why;
    std::string refused;
    ASSERT_NE(events_.Start(Bit(Metric::kPathFaults), refused), 0u) << refused;
    counters_.SetCounted(Bit(Metric::kPathFaults));
  }
  void TearDown() override { events_.Stop(); }

  jvm::ThreadTable table_;
  ThreadCounters counters_{kNoLayout, table_};
  ThreadPerfEvents events_;
};

TEST_F(KernelEventsTest, CountsEachFaultOfAThread) {
  for (uint64_t tid = 1; tid <= 4; ++tid) {
    std::thread([&] {
      counters_.Start(tid, 0, false);
      events_.Attach(gettid());
      const int64_t before = *counters_.Own(kFaults);
      TouchPages();
      const int64_t faults = *counters_.Own(kFaults) - before;
      EXPECT_GE(faults, static_cast<int64_t>(kPages));
      EXPECT_LE(faults, static_cast<int64_t>(2 * kPages));  // sanitizers have pages of their own
      events_.Detach();
      counters_.End();
    }).join();
  }
  EXPECT_EQ(events_.unattached(), 0u);
}

TEST_F(KernelEventsTest, AThreadThatRanBeforeIsCountedFromThenOn) {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> attached{false};
  std::thread running([&] {
    counters_.Start(9, 0, true);
    TouchPages();
    tid = gettid();
    while (!attached) std::this_thread::yield();
    TouchPages();
    events_.Detach();
    const int64_t faults = *counters_.Own(kFaults);
    EXPECT_GE(faults, static_cast<int64_t>(kPages));
    EXPECT_LE(faults, static_cast<int64_t>(2 * kPages));  // sanitizers have pages of their own
    counters_.End();
  });
  while (tid == 0) std::this_thread::yield();
  events_.Attach(tid);
  events_.Attach(tid);  // once
  attached = true;
  running.join();
}

// What the handler could not charge, because the thread was not counted yet, its end does.
TEST_F(KernelEventsTest, TheEndChargesTheRest) {
  std::thread([&] {
    events_.Attach(gettid());
    TouchPages();
    counters_.Start(11, 0, false);
    events_.Detach();
    EXPECT_GE(*counters_.Own(kFaults), static_cast<int64_t>(kPages));
    counters_.End();
  }).join();
}

TEST_F(KernelEventsTest, ThreadsWithoutADescriptorAreCounted) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::atomic<bool> ends{false};
  std::atomic<int> attached{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 60; ++i) {
    threads.emplace_back([&] {
      events_.Attach(gettid());
      ++attached;
      while (!ends) std::this_thread::yield();
      events_.Detach();
    });
  }
  while (attached < 60) std::this_thread::yield();
  // Numbers from 48 on are the program's.
  EXPECT_GE(events_.unattached(), 12u);
  EXPECT_LT(events_.unattached(), 60u);
  ends = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const uint64_t unattached = events_.unattached();
  events_.Attach(1 << 22);  // there is no such thread: nothing is lacking
  EXPECT_EQ(events_.unattached(), unattached);
}

TEST_F(KernelEventsTest, AfterAStopNothingIsCounted) {
  std::thread([&] {
    counters_.Start(12, 0, false);
    events_.Attach(gettid());
    events_.Stop();
    const int64_t before = *counters_.Own(kFaults);
    TouchPages();
    EXPECT_EQ(*counters_.Own(kFaults), before);
    events_.Detach();
    counters_.End();
  }).join();
}

TEST(KernelEventsRefusalTest, OthersAreRefusedWithAReason) {
  ThreadPerfEvents events;
  std::string refused;
  EXPECT_EQ(events.Start(Bit(Metric::kCalls), refused), 0u);
  EXPECT_EQ(refused, "");
  const bool is_refused = events.Start(Bit(Metric::kPathCycles), refused) == 0;
  EXPECT_EQ(is_refused, refused.starts_with("cycles: ")) << refused;
  events.Stop();
}

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open), end(open)));
}

TEST(KernelEventsRefusalTest, AnEventWithoutASignalDoesNotStayOpen) {
  // Every signal that it would choose is in use.
  std::vector<std::pair<int, struct sigaction>> before;
  for (int signal = SIGRTMIN + 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction old = {};
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(signal, &action, &old), 0);
    before.emplace_back(signal, old);
  }
  ThreadPerfEvents events;
  std::string refused;
  const size_t open = OpenDescriptors();
  EXPECT_EQ(events.Start(Bit(Metric::kPathFaults), refused), 0u);
  EXPECT_EQ(refused, "page-faults: no real-time signal is free");
  EXPECT_EQ(OpenDescriptors(), open);
  for (const auto& [signal, old] : before) sigaction(signal, &old, nullptr);
}

// The kernel has sent the signal before the event was closed, and another thread has an event with
// that descriptor by now.
TEST(KernelEventHandlerTest, ALateSignalChargesNoOtherThreadsEvent) {
  jvm::ThreadTable table;
  ThreadCounters counters{kNoLayout, table};
  std::thread([&] {
    counters.Start(1, 0, false);
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    ThreadPerfEvent event = {.fd = fd, .os_tid = gettid() + 1, .metric = kFaults, .period = 5};
    PerfEventOfFd(fd).store(&event);
    siginfo_t info = {};
    info.si_fd = fd;
    HandlePerfEventSignal(SIGRTMAX, &info, nullptr);
    EXPECT_EQ(event.charged, 0);
    event.os_tid = gettid();
    errno = EDOM;
    HandlePerfEventSignal(SIGRTMAX, &info, nullptr);
    EXPECT_EQ(event.charged, 5);
    EXPECT_EQ(errno, EDOM);
    EXPECT_TRUE(perf_event_handlers.Idle());
    PerfEventOfFd(fd).store(nullptr);
    close(fd);
    counters.End();
  }).join();
}

}  // namespace
}  // namespace jtrace::metrics
