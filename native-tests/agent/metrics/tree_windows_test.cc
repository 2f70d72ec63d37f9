// Windows against a naive model that watches every call, while threads run, end and are recycled.
#include "agent/metrics/tree_windows.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::metrics {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;

const Routines kMethods = {2, 5, 7};

// Counts one by one the MethodTotals of kMethods and of calls.
struct Model {
  MethodTotals totals;
  int64_t all_calls = 0;

  // `inside`: open activations of kMethods.
  void OnEnter(uint32_t routine, int inside) {
    const bool is_method = kMethods.contains(routine);
    ++all_calls;
    totals.calls += is_method;
    totals.base += is_method;
    totals.outermost_calls += is_method && inside == 0;
    totals.cum += is_method || inside > 0;
  }
  Model operator-(const Model& other) const {
    Model result = *this;
    result.all_calls -= other.all_calls;
    result.totals.calls -= other.totals.calls;
    result.totals.base -= other.totals.base;
    result.totals.outermost_calls -= other.totals.outermost_calls;
    result.totals.cum -= other.totals.cum;
    return result;
  }
  void operator+=(const Model& other) { *this = *this - (Model() - other); }
};

void ExpectSame(const absl::StatusOr<TreeSnapshot>& tree, const Model& model) {
  ASSERT_TRUE(tree.ok()) << tree.status();
  const MethodTotals totals = tree->Totals(kMethods, kCallsColumn);
  EXPECT_EQ(totals.calls, model.totals.calls);
  EXPECT_EQ(totals.base, model.totals.base);
  EXPECT_EQ(totals.outermost_calls, model.totals.outermost_calls);
  EXPECT_EQ(totals.cum, model.totals.cum);
  static const Routines all = [] {
    Routines routines;
    for (uint32_t routine = 1; routine <= 2000; ++routine) routines.insert(routine);
    return routines;
  }();
  EXPECT_EQ(tree->Totals(all, kCallsColumn).calls, model.all_calls);
}

// A Java thread on a random walk; may be anywhere between two steps.
class Walker {
 public:
  Walker(signal_safe::Arena* arena, uint64_t tid, uint32_t seed, uint32_t routines,
         bool is_virtual = false)
      : thread_(arena, tid, is_virtual), random_(seed), routines_(routines) {}

  void Walk(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (open_.size() < 12 && random_() % 2 == 0) {
        Enter(1 + random_() % routines_);
      } else if (!open_.empty()) {
        Exit();
      }
    }
    thread_.Prune();
  }
  void End() {
    while (!open_.empty()) Exit();
    thread_.End();
  }

  uint64_t tid() { return thread_.state()->java_tid; }
  const Model& model() const { return model_; }

 private:
  struct Open {
    uint64_t token;
    bool is_method;
  };
  void Enter(uint32_t routine) {
    model_.OnEnter(routine, inside_);
    const bool is_method = kMethods.contains(routine);
    open_.push_back({thread_.Enter(routine, random_() % 2 == 0), is_method});
    inside_ += is_method;
  }
  void Exit() {
    thread_.Exit(open_.back().token);
    inside_ -= open_.back().is_method;
    open_.pop_back();
  }

  ProbeDouble thread_;
  std::mt19937 random_;
  const uint32_t routines_;
  std::vector<Open> open_;
  int inside_ = 0;
  Model model_;
};

void IgnoreUpdate(const calls::TreeUpdate&) {}

TEST(TreeWindowsTest, ScopesOfAWindow) {
  testing::TestArena arena;
  calls::TreeCollector collector(arena.get());
  ThreadDescendants families;
  TreeWindows windows(collector, families);
  Walker own(arena.get(), 1, 1, 8);
  Walker other(arena.get(), 2, 2, 8);
  own.Walk(100);
  other.Walk(100);
  const Model own_before = own.model();
  const Model other_before = other.model();
  families.Begin(11, 1);
  windows.Open(10, WindowScope::kThread, 1);
  windows.Open(11, WindowScope::kDescendants, 1);
  windows.Open(12, WindowScope::kProcess, 1);
  Walker child(arena.get(), 3, 3, 8);
  families.Add(11, 3);
  own.Walk(100);
  other.Walk(100);
  child.Walk(100);
  child.End();
  for (int round = 0; round < 3; ++round) {
    const Model own_now = own.model() - own_before;
    Model family = own_now;
    family += child.model();
    Model all = family;
    all += other.model() - other_before;
    ExpectSame(windows.CountsOf(10), own_now);
    ExpectSame(windows.CountsOf(11), family);
    ExpectSame(windows.CountsOf(12), all);
    // Of the opener only the counts at or below kMethods; of others all.
    const auto below = windows.CountsOf(11, &kMethods);
    ASSERT_TRUE(below.ok());
    EXPECT_EQ(below->Totals({1, 2, 3, 4, 5, 6, 7, 8}, kCallsColumn).calls,
              own_now.totals.cum + child.model().all_calls);
    // Whether or not the ended thread's memory is already reused.
    collector.Poll();
    collector.Collect(IgnoreUpdate);
  }
  Model all = own.model();
  all += other.model();
  all += child.model();
  ExpectSame(windows.SinceStart(std::nullopt), all);
  ExpectSame(windows.SinceStart(2), other.model());
  EXPECT_TRUE(absl::IsNotFound(windows.SinceStart(3).status()));
  windows.Close(10);
  EXPECT_TRUE(absl::IsNotFound(windows.CountsOf(10).status()));
}

TEST(TreeWindowsTest, CountsSinceItsOwnRecordingBegan) {
  testing::TestArena arena;
  calls::TreeCollector collector(arena.get());
  ThreadDescendants families;
  Walker thread(arena.get(), 1, 1, 8);
  thread.Walk(500);
  const Model before = thread.model();
  collector.BeginRecording();
  TreeWindows windows(collector, families);
  thread.Walk(500);
  ExpectSame(windows.SinceStart(1), thread.model() - before);
  ExpectSame(windows.SinceStart(std::nullopt), thread.model() - before);
  thread.End();
  collector.Poll();
  collector.Collect(IgnoreUpdate);
  ExpectSame(windows.SinceStart(std::nullopt), thread.model() - before);
}

// Nodes are added and pruned all the time.
TEST(TreeWindowsTest, PrunedTreesLoseNoCounts) {
  testing::TestArena arena;
  calls::TreeCollector collector(
      arena.get(),
      {.limits = {.arena_bytes = 1000 * sizeof(signal_safe::Node), .prune_percent = 1}});
  ThreadDescendants families;
  TreeWindows windows(collector, families);
  Walker thread(arena.get(), 1, 1, 2000);
  thread.Walk(500);
  Model before;
  for (int round = 0; round < 150; ++round) {
    if (round == 50) {
      windows.Open(1, WindowScope::kThread, 1);
      before = thread.model();
    }
    thread.Walk(400);
    if (round % 50 == 49) ExpectSame(windows.SinceStart(1), thread.model());
    collector.Poll();
    collector.Collect(IgnoreUpdate);
  }
  EXPECT_GT(collector.pruned_nodes(), 1000u);
  ExpectSame(windows.CountsOf(1), thread.model() - before);
  ExpectSame(windows.SinceStart(std::nullopt), thread.model());
}

// Threads run while the writer reads; at each meeting all wait and sums are compared. Some threads
// end between two meetings and others start in their place, with their memory.
TEST(TreeWindowsTest, ExactWhileThreadsRunAndEnd) {
  constexpr int kThreads = 4;
  constexpr int kMeetings = 8;
  testing::TestArena arena(1 << 28);
  calls::TreeCollector collector(
      arena.get(), {.group_of = [](uint64_t, bool is_virtual) { return is_virtual ? 1u : 0u; }});
  ThreadDescendants families;
  TreeWindows windows(collector, families);
  std::atomic<uint64_t> last_tid{0};
  std::vector<Model> counted(kThreads);  // by ended walkers of each thread
  std::vector<std::unique_ptr<Walker>> walkers(kThreads);
  std::barrier meeting(kThreads + 1);
  std::atomic<int> walking{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(100 + i);
      const auto begin = [&] {
        walkers[i] = std::make_unique<Walker>(arena.get(), ++last_tid, random(), 9, i % 2 == 1);
      };
      begin();
      for (int round = 0; round < kMeetings; ++round) {
        for (int part = 0; part < 4; ++part) {
          walkers[i]->Walk(200);
          if (random() % 3 != 0) continue;
          walkers[i]->End();
          counted[i] += walkers[i]->model();
          begin();
        }
        --walking;
        meeting.arrive_and_wait();  // all wait
        meeting.arrive_and_wait();
      }
    });
  }
  std::vector<Model> at_open;
  for (int round = 0; round < kMeetings; ++round) {
    do {
      collector.Poll();
      collector.Collect(IgnoreUpdate);
      EXPECT_TRUE(windows.SinceStart(std::nullopt).ok());
    } while (walking > 0);
    meeting.arrive_and_wait();
    Model all;
    for (int i = 0; i < kThreads; ++i) {
      all += counted[i];
      all += walkers[i]->model();
      ExpectSame(windows.SinceStart(walkers[i]->tid()), walkers[i]->model());
    }
    ExpectSame(windows.SinceStart(std::nullopt), all);
    for (size_t i = 0; i < at_open.size(); ++i) ExpectSame(windows.CountsOf(i), all - at_open[i]);
    windows.Open(at_open.size(), WindowScope::kProcess, 0);
    at_open.push_back(all);
    walking = kThreads;
    meeting.arrive_and_wait();
  }
  for (std::thread& thread : threads) thread.join();
}

// The double charges a tick to the current node at each probe.
TEST(TreeWindowsTest, PathsHaveProcessorTimeWithItsClock) {
  const calls::ClockScale scale = calls::ClockScale::Nanoseconds();
  for (const auto clock : {signal_safe::ProbeClock::kCpu, signal_safe::ProbeClock::kTsc}) {
    testing::TestArena arena;
    calls::TreeCollector collector(arena.get(), {.clock = clock, .scale = &scale});
    ThreadDescendants families;
    testing::ProbeDouble thread(arena.get(), 1, /*is_virtual=*/false, /*has_clock=*/true);
    const auto run = [&] {
      const uint64_t outer = thread.Enter(5);
      for (int i = 0; i < 3; ++i) thread.Exit(thread.Enter(6));
      thread.Exit(outer);
    };
    run();
    TreeWindows windows(collector, families);
    windows.Open(1, WindowScope::kThread, 1);
    run();
    const auto counted = windows.CountsOf(1);
    ASSERT_TRUE(counted.ok());
    const bool is_cpu = clock == signal_safe::ProbeClock::kCpu;
    EXPECT_EQ(windows.has_cpu_time(), is_cpu);
    EXPECT_EQ(counted->Totals({5}, kCpuColumn).base, is_cpu ? 4 : 0);
    EXPECT_EQ(counted->Totals({6}, kCpuColumn).base, is_cpu ? 3 : 0);
    EXPECT_EQ(counted->Totals({6}, kCallsColumn).calls, 3);
  }
}

// Its counters may belong to another thread by then.
TEST(TreeWindowsTest, AnEndedOpenerIsNotReadAgain) {
  constexpr uint32_t kMetric = 10;
  const calls::PathMetrics metrics = {.numbers = {kMetric}, .layout = {}};
  testing::TestArena arena;
  calls::TreeCollector collector(arena.get(), {.metrics = metrics});
  int asked = 0;
  collector.SetOpenMetricsReader([&](const calls::PathMetrics&, const signal_safe::ThreadState&) {
    ++asked;
    return calls::MetricValues{};
  });
  ThreadDescendants families;
  testing::ProbeDouble thread(arena.get(), 1, false, false, metrics);
  thread.Exit(thread.Enter(5));
  collector.BeginRecording();
  TreeWindows windows(collector, families);
  windows.Open(1, WindowScope::kThread, 1);
  thread.Exit(thread.Enter(5));
  EXPECT_TRUE(windows.CountsOf(1).ok());
  EXPECT_GT(asked, 0);
  const int before = asked;
  thread.End();
  const auto counted = windows.CountsOf(1);
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->Totals({5}, kCallsColumn).calls, 1);
  EXPECT_EQ(asked, before);
}

}  // namespace
}  // namespace jtrace::metrics
