#include "agent/metrics/current_thread_totals.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>
#include <thread>

#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {
namespace {

constexpr signal_safe::AllocLayout kNoLayout;
constexpr auto kCpu = static_cast<uint32_t>(Metric::kCpu);

int64_t Read(const ThreadCounters& counters, uint32_t metric) {
  int64_t value = -1;
  EXPECT_EQ(counters.current_thread().Read(metric, value), Availability::kYes) << metric;
  return value;
}

TEST(CurrentThreadTotals, EqualTheThreadsTotals) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t orders = *counters.users().Register("orders", "");
  std::thread([&] {
    int64_t value = 0;
    EXPECT_EQ(counters.current_thread().Read(orders, value), Availability::kUnknownThread);
    EXPECT_EQ(counters.current_thread().Add(orders, 1), Availability::kUnknownThread);
    counters.Start(7, 0, false);
    EXPECT_EQ(counters.current_thread().Add(orders, 5), Availability::kYes);
    counters.Add(orders, 2);
    EXPECT_EQ(Read(counters, orders), 7);
    const int64_t cpu = Read(counters, kCpu);
    EXPECT_LE(cpu, *counters.Own(kCpu));
    EXPECT_LE(Read(counters, static_cast<uint32_t>(Metric::kSwitches)),
              *counters.Own(static_cast<uint32_t>(Metric::kSwitches)));
    counters.End();
    EXPECT_EQ(counters.current_thread().Read(orders, value), Availability::kUnknownThread);
    EXPECT_EQ(counters.current_thread().Add(orders, 1), Availability::kUnknownThread);
  }).join();
  EXPECT_EQ(*counters.Of(7, orders), 7);
}

TEST(CurrentThreadTotals, ANativeThreadIsKnownAfterItIsSeen) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t orders = *counters.users().Register("orders", "");
  std::thread([&] {
    EXPECT_EQ(counters.current_thread().Add(orders, 1), Availability::kUnknownThread);
    ASSERT_TRUE(counters.RegisterThread().has_value());
    EXPECT_EQ(counters.RegisterThread()->os_tid, gettid());
    EXPECT_EQ(counters.current_thread().Add(orders, 4), Availability::kYes);
    EXPECT_EQ(*counters.OfOsThread(gettid(), orders), 4);
    EXPECT_FALSE(counters.JavaTidOf(gettid()).has_value());
  }).join();
  EXPECT_EQ(*counters.Process(orders), 4);
}

TEST(CurrentThreadTotals, UnavailableValuesAreErrorsNotNumbers) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  std::thread([&] {
    counters.Start(7, 0, false);
    const auto availability = [&](auto metric) {
      int64_t value = 0;
      return counters.current_thread().Read(static_cast<uint32_t>(metric), value);
    };
    EXPECT_EQ(availability(Metric::kAllocBytes), Availability::kUnsupported);
    EXPECT_EQ(availability(Metric::kLiveBytes), Availability::kNotCounted);
    EXPECT_EQ(availability(Metric::kExceptions), Availability::kNotCounted);
    EXPECT_EQ(availability(Metric::kCalls), Availability::kTreesOnly);
    EXPECT_EQ(availability(Metric::kJit), Availability::kProcessOnly);
    EXPECT_EQ(availability(Metric::kReadBytes), Availability::kNotInHandlers);
    EXPECT_EQ(availability(static_cast<uint32_t>(AllMetrics().size())), Availability::kNoMetric);
    EXPECT_EQ(availability(kFirstUser), Availability::kNoMetric);
    EXPECT_EQ(availability(~0u), Availability::kNoMetric);
    EXPECT_EQ(counters.current_thread().Add(kCpu, 1), Availability::kNoMetric);
    EXPECT_EQ(counters.current_thread().Add(kFirstUser, 1), Availability::kNoMetric);
    counters.SetCounted(1ull << static_cast<unsigned>(Metric::kExceptions));
    EXPECT_EQ(availability(Metric::kExceptions), Availability::kYes);
    counters.Mount(50);
    EXPECT_EQ(availability(Metric::kCpu), Availability::kVirtualThread);
    EXPECT_EQ(availability(Metric::kWall), Availability::kYes);
    counters.Unmount();
    EXPECT_EQ(availability(Metric::kCpu), Availability::kYes);
    counters.End();
  }).join();
  EXPECT_EQ(counters.Own(static_cast<uint32_t>(Metric::kGc)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(counters.Process(static_cast<uint32_t>(Metric::kCalls)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(CurrentThreadTotals, CountersByProcessorHaveOneTotal) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t by_thread = *counters.users().Register("a", "");
  const uint32_t by_processor = *counters.users().Register("b", "B", Counting::kByProcessor);
  EXPECT_EQ(*counters.users().Register("b", "", Counting::kByProcessor), by_processor);
  EXPECT_EQ(counters.users().Register("b", "").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(counters.users().Register("a", "", Counting::kByProcessor).status().code(),
            absl::StatusCode::kFailedPrecondition);
  std::thread([&] {
    EXPECT_EQ(counters.current_thread().Add(by_processor, 40), Availability::kYes)
        << "no thread needs to be known";
    counters.Start(7, 0, false);
    EXPECT_EQ(counters.current_thread().Add(by_processor, 2), Availability::kYes);
    int64_t value = 0;
    EXPECT_EQ(counters.current_thread().Read(by_processor, value), Availability::kProcessOnly);
    EXPECT_EQ(Read(counters, by_thread), 0);
    counters.End();
  }).join();
  EXPECT_EQ(*counters.Process(by_processor), 42);
  EXPECT_EQ(*counters.Process(by_thread), 0);
  EXPECT_FALSE(counters.Of(7, by_processor).ok());
}

// ---- In signal handlers ----------------------------------------------------------------------

ThreadCounters* asked = nullptr;
uint32_t counted = 0;
std::atomic<int64_t> counted_by_handlers{0};
std::atomic<int64_t> refused{0};
std::atomic<int64_t> wrong{0};
thread_local int64_t last_total = 0;

void Handle(int) {
  const int saved = errno;
  errno = 77;
  int64_t total = 0;
  const Availability availability = asked->current_thread().Read(counted, total);
  if (availability == Availability::kUnknownThread) ++refused;
  if (availability != Availability::kYes && availability != Availability::kUnknownThread) ++wrong;
  if (availability == Availability::kYes) {
    if (total < last_total) ++wrong;
    last_total = total;
  }
  if (asked->current_thread().Add(counted, 3) == Availability::kYes) counted_by_handlers += 3;
  int64_t cpu = 0;
  asked->current_thread().Read(kCpu, cpu);
  if (errno != 77) ++wrong;
  errno = saved;
}

// A handler interrupts a thread anywhere: counting, starting, ending, mounting a virtual thread.
// None of its counts is lost without an error.
TEST(CurrentThreadTotals, HandlersInterruptThreadsAnywhere) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  asked = &counters;
  counted = *counters.users().Register("events", "");
  counted_by_handlers = refused = wrong = 0;
  struct sigaction action = {}, before = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &before);
  constexpr int64_t kHandled = 10'000;
  constexpr int kAdditions = 5'000;  // enough to cover start and end
  int64_t counted_by_thread = 0;
  std::thread([&] {
    // Not kill: its signal mostly arrives when the thread returns from the kernel.
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = gettid();
    timer_t timer;
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    const timespec period = {.tv_sec = 0, .tv_nsec = 50'000};
    const itimerspec times = {.it_interval = period, .it_value = period};
    timer_settime(timer, 0, &times, nullptr);
    for (uint64_t tid = 100; counted_by_handlers / 3 + refused < kHandled; ++tid) {
      last_total = 0;
      counters.Start(tid, 0, false);
      for (int i = 0; i < kAdditions; ++i) counters.Add(counted, 1);
      counters.End();
      counted_by_thread += kAdditions;
    }
    timer_delete(timer);
  }).join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(counted_by_handlers, 0);
  EXPECT_EQ(*counters.Process(counted), counted_by_thread + counted_by_handlers);
}

}  // namespace
}  // namespace jtrace::metrics
