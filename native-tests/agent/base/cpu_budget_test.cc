#include "agent/base/cpu_budget.h"

#include <pthread.h>
#include <unistd.h>

#include <thread>

#include "agent/base/thread_cpu.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

using absl::Milliseconds;
using absl::ZeroDuration;

TEST(ProcessorBudgetTest, RestsUntilTheShareHolds) {
  const CpuBudget fifth(20);
  EXPECT_EQ(fifth.PauseAfter(Milliseconds(40), Milliseconds(40)), Milliseconds(160));
  EXPECT_EQ(CpuBudget(1).PauseAfter(Milliseconds(10), Milliseconds(10)), Milliseconds(990));
  EXPECT_EQ(CpuBudget(50).PauseAfter(Milliseconds(3), Milliseconds(3)), Milliseconds(3));
}

// On a busy machine a piece waits for a processor most of its time.
TEST(ProcessorBudgetTest, WaitingInAPieceIsRest) {
  const CpuBudget fifth(20);
  EXPECT_EQ(fifth.PauseAfter(Milliseconds(150), Milliseconds(40)), Milliseconds(50));
  EXPECT_EQ(fifth.PauseAfter(Milliseconds(200), Milliseconds(40)), ZeroDuration());
  EXPECT_EQ(fifth.PauseAfter(Milliseconds(900), Milliseconds(40)), ZeroDuration());
}

TEST(ProcessorBudgetTest, AWholeProcessorNeverRests) {
  EXPECT_EQ(CpuBudget(100).PauseAfter(Milliseconds(10), Milliseconds(30)), ZeroDuration());
}

// Pieces of any length, against a clock of their own.
TEST(ProcessorBudgetTest, TheShareHoldsOverManyPieces) {
  const CpuBudget budget(20);
  absl::Duration now, worked;
  for (int piece = 0; piece < 1000; ++piece) {
    const absl::Duration cost = absl::Microseconds(piece * 7919 % 90'000);
    const absl::Duration elapsed = cost + absl::Microseconds(piece * 104'729 % 50'000);
    worked += cost;
    now += elapsed + budget.PauseAfter(elapsed, cost);
    EXPECT_LE(worked, now / 5 + absl::Nanoseconds(piece)) << piece;
  }
}

TEST(ThreadCpuTest, GrowsWithWork) {
  const auto begin = ThreadCpu(gettid());
  ASSERT_TRUE(begin.has_value());
  while (*ThreadCpu(gettid()) < *begin + Milliseconds(5)) {
  }
  constexpr pid_t kBeyondAll = 4'194'305;  // the kernel's limit is 2^22
  EXPECT_FALSE(ThreadCpu(kBeyondAll).has_value());
}

TEST(ThreadCpuTest, FindsAThreadByItsName) {
  pid_t tid = 0;
  pid_t found = 0;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "a b (c)");
    tid = gettid();
    found = FindThread("a b (c)");
  }).join();
  EXPECT_EQ(found, tid);
  EXPECT_EQ(FindThread("no such thread"), 0);
}

}  // namespace
}  // namespace jtrace
