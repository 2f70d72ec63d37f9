#include "agent/metrics/thread_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "native-tests/support/metric_events.h"

namespace jtrace::metrics {
namespace {

using ::testing::HasSubstr;

// Like the JVM's structure for a thread: what it allocated before its TLAB, and the TLAB.
struct JavaThread {
  uint64_t other = 0;  // an offset of 0 would mean "not known"
  int64_t allocated_bytes = 0;
  int64_t tlab_top = 0;
  int64_t tlab_start = 0;

  uint64_t address() const { return reinterpret_cast<uint64_t>(this); }
  void Allocate(int64_t bytes) { tlab_top += bytes; }
  void NewTlab() {
    allocated_bytes += tlab_top - tlab_start;
    tlab_top = tlab_start = 4096;
  }
  int64_t allocated() const { return allocated_bytes + tlab_top - tlab_start; }
};
constexpr signal_safe::AllocLayout kNoLayout;
const signal_safe::AllocLayout kJavaLayout = {offsetof(JavaThread, allocated_bytes),
                                              offsetof(JavaThread, tlab_top),
                                              offsetof(JavaThread, tlab_start)};

constexpr auto kAllocBytes = static_cast<uint32_t>(Metric::kAllocBytes);
constexpr auto kExceptions = static_cast<uint32_t>(Metric::kExceptions);

// How many events a test counts: JTRACE_METRIC_EVENTS=1000000000 for the long form.
int64_t Events() { return jtrace::testing::MetricEvents(4'000'000); }

TEST(ThreadCounters, CountsOfAThreadAreItsOwn) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t orders = *counters.users().Register("orders", "");
  std::thread([&] {
    counters.Start(7, 0, false);
    counters.Add(orders, 5);
    counters.Add(orders, -2);
    EXPECT_EQ(*counters.Own(orders), 3);
    counters.End();
  }).join();
  counters.Start(1, 0, true);
  counters.Add(orders, 100);
  EXPECT_EQ(*counters.Own(orders), 100);
  EXPECT_EQ(*counters.Of(7, orders), 3) << "an ended thread's total stays";
  EXPECT_EQ(*counters.Process(orders), 103);
  counters.End();
  EXPECT_EQ(*counters.Process(orders), 103);
}

// The VM thread adds the time of a collection inside a safepoint, where it must not wait for a
// query.
TEST(ThreadCounters, CountsOfTheProcessDoNotWaitForAQuery) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t orders = *counters.users().Register("orders", "");
  counters.Start(7, 0, false);
  EXPECT_TRUE(counters.WithLive(7, [&](const signal_safe::MetricCounts&) {
    std::thread([&] { counters.AddToProcess(orders, 5); }).join();
  }));
  EXPECT_EQ(*counters.Process(orders), 5);
  counters.End();
}

// S5.6, S5.7: nothing is lost or counted twice while threads start and end and others query.
TEST(ThreadCounters, TotalsAreExactWhileThreadsStartAndEnd) {
  constexpr int kWorkers = 8;
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t metric = *counters.users().Register("events", "");
  const int64_t per_worker = Events() / kWorkers;
  std::atomic<uint64_t> next_tid{100};
  std::atomic<int64_t> sum{0};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    for (int64_t before = 0; !done;) {
      const int64_t now = *counters.Process(metric);
      EXPECT_GE(now, before) << "a total never goes back";
      before = now;
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      std::minstd_rand random(static_cast<unsigned>(w) + 1);
      for (int64_t left = per_worker; left > 0;) {
        const int64_t many = std::min<int64_t>(left, 1 + random() % (per_worker / 20 + 1));
        left -= many;
        const uint64_t tid = ++next_tid;
        std::thread([&, many, tid] {
          counters.Start(tid, 0, false);
          for (int64_t i = 0; i < many; ++i) counters.Add(metric, i & 3);
          const int64_t expected = many / 4 * 6 + (many % 4) * (many % 4 - 1) / 2;
          EXPECT_EQ(*counters.Own(metric), expected);
          sum += expected;
          counters.End();
          EXPECT_EQ(*counters.Of(tid, metric), expected);
        }).join();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  done = true;
  reader.join();
  EXPECT_EQ(*counters.Process(metric), sum.load());
  int64_t by_thread = 0;
  uint64_t cursor = 0;
  for (const ThreadValues& thread : counters.EndedSince(cursor)) by_thread += thread.values[metric];
  EXPECT_TRUE(counters.EndedSince(cursor).empty()) << "each is returned once";
  EXPECT_EQ(by_thread, sum.load());
}

TEST(ThreadCounters, NativeThreadsAreCountedUntilTheyEnd) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t metric = *counters.users().Register("native", "");
  std::thread([&] {
    counters.Add(metric, 3);
    EXPECT_EQ(counters.Live(kAllMetrics).size(), 1u);
  }).join();
  EXPECT_TRUE(counters.Live(kAllMetrics).empty());
  EXPECT_EQ(*counters.Process(metric), 3);
}

TEST(ThreadCounters, BytesOfAThreadEqualThoseOfItsJavaThread) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kJavaLayout, threads);
  JavaThread java;
  java.Allocate(100);
  std::thread([&] {
    counters.Start(5, java.address(), false);
    EXPECT_EQ(*counters.Own(kAllocBytes), 100);
    java.Allocate(24);
    java.NewTlab();
    java.Allocate(16);
    EXPECT_EQ(*counters.Own(kAllocBytes), 140);
    EXPECT_EQ(*counters.Process(kAllocBytes), 140);
    counters.End();
  }).join();
  EXPECT_EQ(*counters.Of(5, kAllocBytes), 140);
  EXPECT_EQ(*counters.Process(kAllocBytes), 140);
}

// Virtual threads take turns on one carrier, which also allocates for itself.
TEST(ThreadCounters, VirtualThreadsGetWhatTheyAllocateOnTheirCarriers) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kJavaLayout, threads);
  const uint32_t events = *counters.users().Register("events", "");
  JavaThread java;
  std::thread([&] {
    counters.Start(1, java.address(), false);
    java.Allocate(8);
    counters.Mount(50);
    java.Allocate(1000);
    counters.Add(events, 1);
    EXPECT_EQ(*counters.Own(kAllocBytes), 1000);
    EXPECT_EQ(*counters.Of(1, kAllocBytes), 8) << "the carrier's do not change meanwhile";
    counters.Unmount();
    java.Allocate(16);
    counters.Mount(51);
    java.Allocate(500);
    java.NewTlab();
    counters.Unmount();
    counters.Mount(50);
    java.Allocate(24);
    counters.Add(events, 10);
    EXPECT_EQ(*counters.Own(kAllocBytes), 1024);
    EXPECT_EQ(*counters.Own(events), 11);
    counters.EndVirtual(50);
    java.Allocate(32);
    EXPECT_EQ(*counters.Own(kAllocBytes), 8 + 16 + 32);
    EXPECT_EQ(*counters.Of(50, kAllocBytes), 1024);
    EXPECT_EQ(*counters.Of(51, kAllocBytes), 500);
    EXPECT_EQ(*counters.Process(kAllocBytes), *counters.Own(kAllocBytes) + 1524);
    EXPECT_EQ(*counters.Process(kAllocBytes), java.allocated());
    counters.End();
  }).join();
}

TEST(ThreadCounters, UnavailableKernelValuesAreErrorsNotNumbers) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kJavaLayout, threads);
  JavaThread java;
  constexpr auto kCpu = static_cast<uint32_t>(Metric::kCpu);
  constexpr auto kRead = static_cast<uint32_t>(Metric::kReadBytes);
  const auto of_virtual = [&] { return counters.Of(50, kCpu).status().code(); };
  std::thread([&] {
    counters.Start(1, java.address(), false);
    counters.Mount(50);
    EXPECT_EQ(counters.Own(kCpu).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(of_virtual(), absl::StatusCode::kUnavailable);
    EXPECT_TRUE(counters.Own(static_cast<uint32_t>(Metric::kWall)).ok());
    EXPECT_TRUE(counters.Of(1, kCpu).ok());
    counters.EndVirtual(50);
    EXPECT_EQ(of_virtual(), absl::StatusCode::kUnavailable);
    EXPECT_TRUE(counters.Own(kRead).ok());
    counters.End();
  }).join();
  EXPECT_TRUE(counters.Of(1, kCpu).ok());
  EXPECT_EQ(counters.Of(1, kRead).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(counters.Process(kRead).ok());
}

TEST(ThreadCounters, AVirtualThreadMayContinueOnAnotherCarrier) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kJavaLayout, threads);
  JavaThread first, second;
  std::thread([&] {
    counters.Start(1, first.address(), false);
    counters.Mount(50);
    first.Allocate(100);
    counters.Unmount();
    counters.End();
  }).join();
  std::thread([&] {
    second.Allocate(7);
    counters.Start(2, second.address(), false);
    counters.Mount(50);
    second.Allocate(11);
    EXPECT_EQ(*counters.Own(kAllocBytes), 111);
    counters.Unmount();
    EXPECT_EQ(*counters.Own(kAllocBytes), 7);
    counters.End();
  }).join();
}

TEST(ThreadCounters, ThreadsThatRanBeforeAreFoundByTheirOwnEvents) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t metric = *counters.users().Register("late", "");
  std::atomic<pid_t> tid{0};
  std::atomic<bool> adopted{false};
  std::thread runs([&] {
    tid = gettid();
    while (!adopted) std::this_thread::yield();
    counters.Add(metric, 9);
    counters.End();
  });
  while (tid == 0) std::this_thread::yield();
  counters.Adopt(33, tid, 0);
  EXPECT_TRUE(counters.Live(kAllMetrics).front().is_partial);
  adopted = true;
  runs.join();
  EXPECT_EQ(*counters.Of(33, metric), 9);
}

void CheckProcessorTime() {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  counters.Start(1, 0, false);
  constexpr auto kCpu = static_cast<uint32_t>(Metric::kCpu);
  constexpr auto kWall = static_cast<uint32_t>(Metric::kWall);
  constexpr auto kOff = static_cast<uint32_t>(Metric::kOffCpu);
  const auto clock = [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const int64_t before = clock();
  const int64_t read = *counters.Own(kCpu);
  EXPECT_GE(read, before);
  EXPECT_LE(read, clock());
  const int64_t wall = *counters.Own(kWall);
  const int64_t off = *counters.Own(kOff);
  usleep(20'000);
  EXPECT_GE(*counters.Own(kWall) - wall, 20'000'000);
  // Readings in between differ by the time of the readings themselves, which a busy machine may
  // increase.
  const int64_t used = clock() - before;
  EXPECT_GE(*counters.Own(kOff) - off, 20'000'000 - used);
  counters.End();
}

TEST(ThreadCounters, ProcessorTimeEqualsTheKernels) { std::thread(CheckProcessorTime).join(); }

// Like main before DestroyJavaVM.
TEST(ThreadCounters, AThreadDoesNotInheritWhatAnEarlierOneUsed) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  constexpr auto kCpu = static_cast<uint32_t>(Metric::kCpu);
  std::thread([&] {
    counters.Start(1, 0, false);
    while (*counters.Own(kCpu) < 10'000'000) {
    }
    counters.End();
    counters.Start(2, 0, false);
    counters.End();
    EXPECT_GE(*counters.Of(1, kCpu), 10'000'000);
    EXPECT_LT(*counters.Of(2, kCpu), *counters.Of(1, kCpu));
  }).join();
}

TEST(ThreadCounters, EndedThreadsAreForgottenOneByOneButNotInTotals) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  const uint32_t metric = *counters.users().Register("n", "");
  std::thread([&] {
    for (uint64_t tid = 1; tid <= ThreadCounters::kEndedThreads + 10; ++tid) {
      counters.Start(tid, 0, false);
      counters.Add(metric, 1);
      counters.End();
    }
  }).join();
  EXPECT_EQ(*counters.Process(metric), ThreadCounters::kEndedThreads + 10);
  EXPECT_EQ(*counters.Of(11, metric), 1);
  EXPECT_EQ(counters.Of(10, metric).status().code(), absl::StatusCode::kNotFound);
}

TEST(ThreadCounters, UncountedMetricsAreErrorsNotNumbers) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  counters.Start(1, 0, false);
  EXPECT_EQ(counters.Own(kAllocBytes).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(counters.Own(kExceptions).status().message(), HasSubstr("metrics=exceptions"));
  EXPECT_EQ(counters.Own(signal_safe::kMaxMetrics + 3).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(counters.Own(kFirstUser).status().code(), absl::StatusCode::kNotFound);
  counters.SetCounted(1ull << kExceptions);
  EXPECT_EQ(*counters.Own(kExceptions), 0);
  counters.End();
}

TEST(ThreadCounters, UserCountersHaveNames) {
  jvm::ThreadTable threads;
  ThreadCounters counters(kNoLayout, threads);
  EXPECT_EQ(*counters.users().Register("a.b", "B"), kFirstUser);
  EXPECT_EQ(*counters.users().Register("c", ""), kFirstUser + 1);
  EXPECT_EQ(*counters.users().Register("a.b", "B"), kFirstUser);
  EXPECT_EQ(counters.NameOf(kFirstUser), "user.a.b");
  for (const char* name : {"", "a b", "a\n", "ä", "a,b", "a=b"}) {
    EXPECT_EQ(counters.users().Register(name, "").status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
    if (*name == '\0') continue;
    EXPECT_EQ(counters.users().Register("unit", name).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  }
  for (uint32_t i = 2; i < signal_safe::kMaxMetrics - kFirstUser; ++i) {
    EXPECT_TRUE(counters.users().Register(absl::StrCat("n", i), "").ok());
  }
  EXPECT_EQ(counters.users().Register("one.more", "").status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Metrics, NamesAreFoundAgain) {
  for (const MetricInfo& info : AllMetrics()) {
    EXPECT_EQ(FindMetric(info.name), info.metric);
    EXPECT_FALSE(info.exactness.empty() || info.cost.empty() || info.what.empty());
  }
  EXPECT_EQ(FindMetric("alloc"), std::nullopt);
}

}  // namespace
}  // namespace jtrace::metrics
