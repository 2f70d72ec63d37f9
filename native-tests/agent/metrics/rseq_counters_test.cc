// S5.5: counting by processor and counting by thread give the same totals.
#include "agent/metrics/rseq_counters.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "agent/metrics/rseq_add.h"
#include "agent/metrics/thread_counters.h"
#include "native-tests/support/metric_events.h"

namespace jtrace::metrics {
namespace {

constexpr uint32_t kSlot = 3;

// JTRACE_METRIC_EVENTS=1000000000 for the long form.
int64_t Events() { return jtrace::testing::MetricEvents(10'000'000); }

// Eight workers, whose threads start and end; each event is counted in both ways.
void CountBothWays(RseqCounters& by_cpu, ThreadCounters& by_thread, uint32_t metric) {
  constexpr int kWorkers = 8;
  const int64_t per_worker = Events() / kWorkers;
  std::atomic<uint64_t> next_tid{100};
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      std::minstd_rand random(static_cast<unsigned>(w) + 1);
      for (int64_t left = per_worker; left > 0;) {
        const int64_t many = std::min<int64_t>(left, 1 + random() % (per_worker / 20 + 1));
        left -= many;
        std::thread([&, many] {
          by_thread.Start(++next_tid, 0, false);
          for (int64_t i = 0; i < many; ++i) {
            by_cpu.Add(kSlot, i & 7);
            by_thread.Add(metric, i & 7);
          }
          by_thread.End();
        }).join();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

TEST(RseqCounters, BothImplementationsReachTheSameTotal) {
  for (const auto way : {RseqCounters::Way::kRseqIfPossible, RseqCounters::Way::kAtomic}) {
    RseqCounters by_cpu(way);
    jvm::ThreadTable threads;
    ThreadCounters by_thread(signal_safe::AllocLayout{}, threads);
    const uint32_t metric = *by_thread.users().Register("events", "");
    CountBothWays(by_cpu, by_thread, metric);
    EXPECT_GT(by_cpu.Total(kSlot), Events());
    EXPECT_EQ(by_cpu.Total(kSlot), *by_thread.Process(metric));
    if (by_cpu.UsesRseq()) {
      EXPECT_LT(by_cpu.shared(kSlot), by_cpu.Total(kSlot) / 100) << "an exception, not the rule";
    }
    EXPECT_EQ(by_cpu.Total(kSlot + 1), 0) << "the neighbour is left alone";
  }
}

// All on one processor, so that threads are preempted by each other repeatedly.
TEST(RseqCounters, NothingIsLostWhenThreadsShareAProcessor) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);  // threads created from here on inherit it
  RseqCounters by_cpu;
  jvm::ThreadTable threads;
  ThreadCounters by_thread(signal_safe::AllocLayout{}, threads);
  const uint32_t metric = *by_thread.users().Register("events", "");
  CountBothWays(by_cpu, by_thread, metric);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(by_cpu.Total(kSlot), *by_thread.Process(metric));
}

RseqCounters* counters_of_handler = nullptr;
std::atomic<int64_t> handled{0};
void CountInHandler(int) {
  counters_of_handler->Add(kSlot, 1);
  ++handled;
}

// A handler that counts may interrupt an addition anywhere: the addition restarts.
TEST(RseqCounters, HandlersMayCount) {
  RseqCounters counters;
  counters_of_handler = &counters;
  struct sigaction action = {}, before;
  action.sa_handler = CountInHandler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, &before);
  std::atomic<bool> done{false}, quiet{false};
  constexpr int64_t kAdditions = 3'000'000;
  std::thread counting([&] {
    for (int64_t i = 0; i < kAdditions; ++i) counters.Add(kSlot, 1);
    done = true;
    while (!quiet) std::this_thread::yield();  // a signal to a thread that ended would be lost
  });
  int64_t sent = 0;
  for (; !done || sent < 200; ++sent) {
    pthread_kill(counting.native_handle(), SIGUSR2);
    while (handled <= sent) std::this_thread::yield();
  }
  quiet = true;
  counting.join();
  sigaction(SIGUSR2, &before, nullptr);
  EXPECT_EQ(counters.Total(kSlot), kAdditions + handled);
  EXPECT_EQ(handled, sent);
}

TEST(RseqCounters, SumsWrap) {
  RseqCounters counters;
  counters.Add(0, INT64_MAX);
  counters.Add(0, 1);
  EXPECT_EQ(counters.Total(0), INT64_MIN);
  counters.Add(RseqCounters::kMaxCounters - 1, -5);
  EXPECT_EQ(counters.Total(RseqCounters::kMaxCounters - 1), -5);
}

}  // namespace
}  // namespace jtrace::metrics
