#include "agent/metrics/metrics_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "absl/strings/str_cat.h"

namespace jtrace::metrics {
namespace {

const ReportedMetric* Find(const MetricsReport& report, absl::string_view name) {
  for (const ReportedMetric& metric : report.metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

std::optional<std::string> NameByTid(const ThreadValues& thread) {
  if (thread.java_tid == 13) return std::nullopt;
  return absl::StrCat("thread ", thread.java_tid);
}

TEST(CollectMetrics, LeavesOutUncountedMetrics) {
  jvm::ThreadTable threads;
  ThreadCounters counters(signal_safe::AllocLayout{}, threads);
  const MetricsReport before = CollectMetrics(counters, NameByTid);
  EXPECT_EQ(Find(before, "alloc.bytes"), nullptr) << "this JVM does not report it";
  EXPECT_EQ(Find(before, "exceptions"), nullptr);
  EXPECT_EQ(Find(before, "calls"), nullptr);
  EXPECT_NE(Find(before, "cpu.ns"), nullptr);
  counters.SetCounted(1ull << static_cast<unsigned>(Metric::kExceptions));
  counters.users().Register("orders", "pieces").IgnoreError();
  const MetricsReport after = CollectMetrics(counters, NameByTid);
  EXPECT_NE(Find(after, "exceptions"), nullptr);
  ASSERT_NE(Find(after, "user.orders"), nullptr);
  EXPECT_EQ(Find(after, "user.orders")->unit, "pieces");
}

TEST(CollectMetrics, LiveAndEndedThreadsMakeTheTotal) {
  jvm::ThreadTable threads;
  ThreadCounters counters(signal_safe::AllocLayout{}, threads);
  const uint32_t orders = *counters.users().Register("orders", "");
  std::thread([&] {
    counters.Start(7, 0, false);
    counters.Add(orders, 5);
    counters.End();
  }).join();
  std::latch counted(2), looked(1);
  std::vector<std::thread> live;
  for (const uint64_t tid : {8, 13}) {
    live.emplace_back([&, tid] {
      counters.Start(tid, 0, false);
      counters.Add(orders, 100);
      counted.count_down();
      looked.wait();
      counters.End();
    });
  }
  counted.wait();
  const MetricsReport report = CollectMetrics(counters, NameByTid);
  looked.count_down();
  for (std::thread& thread : live) thread.join();
  const ReportedMetric* metric = Find(report, "user.orders");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric->process, 205);
  EXPECT_EQ(metric->ended, 5);
  EXPECT_EQ(report.ended_threads, 1U);
  ASSERT_EQ(report.threads.size(), 1U) << "a thread that has no name is not shown";
  EXPECT_EQ(report.threads[0].name, "thread 8");
  const auto place = static_cast<size_t>(metric - report.metrics.data());
  EXPECT_EQ(report.threads[0].values[place], 100);
}

TEST(CollectMetrics, VirtualThreadsHaveNothingOfTheKernel) {
  jvm::ThreadTable threads;
  ThreadCounters counters(signal_safe::AllocLayout{}, threads);
  counters.Start(1, 0, false);
  counters.Mount(50);
  const MetricsReport report = CollectMetrics(counters, NameByTid);
  counters.Unmount();
  counters.EndVirtual(50);
  counters.End();
  for (const ReportedThread& thread : report.threads) {
    for (size_t i = 0; i < report.metrics.size(); ++i) {
      const std::string& name = report.metrics[i].name;
      const bool of_kernel = name == "cpu.ns" || name == "page.faults" || name == "offcpu.ns";
      if (!of_kernel) continue;
      EXPECT_EQ(thread.values[i].has_value(), thread.java_tid == 1) << name;
    }
  }
  EXPECT_EQ(report.threads.size(), 2U);
}

// The end of a thread may be reported before another thread that listed it adopts it: then its data
// in the JVM is already freed.
TEST(ThreadCounters, AThreadThatEndedIsNotAdopted) {
  jvm::ThreadTable threads;
  ThreadCounters counters(signal_safe::AllocLayout{}, threads);
  pid_t unmet = 0;
  std::thread([&] {
    counters.Start(7, 0, false);
    counters.End();
    counters.Adopt(7, gettid(), 0x1000);
  }).join();
  std::thread([&] {
    unmet = gettid();
    counters.End();
  }).join();
  counters.Adopt(8, unmet, 0x1000);
  EXPECT_TRUE(counters.Live(kAllMetrics).empty());
  counters.Adopt(9, unmet + 1, 0);
  EXPECT_EQ(counters.Live(0).size(), 1U);
}

}  // namespace
}  // namespace jtrace::metrics
