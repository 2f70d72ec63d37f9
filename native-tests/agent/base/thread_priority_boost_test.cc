#include "agent/base/thread_priority_boost.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "agent/base/thread_cpu.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

constexpr char kName[] = "jtrace likes";
const absl::Time kNow = absl::UnixEpoch() + absl::Hours(1);

int NiceOf(pid_t tid) { return getpriority(PRIO_PROCESS, static_cast<id_t>(tid)); }

// The nice value that the test runs with, and so the threads that it makes.
const int kUsual = NiceOf(0);

// A thread with a name that sleeps or works until it is destroyed.
class NamedThread {
 public:
  explicit NamedThread(const char* name) : thread_([this, name] { Run(name); }) {
    while (tid_.load() == 0) absl::SleepFor(absl::Milliseconds(1));
  }
  ~NamedThread() {
    ends_.store(true);
    thread_.join();
  }
  pid_t tid() const { return tid_.load(); }
  void Work(absl::Duration time) {
    const absl::Duration until = *ThreadCpu(tid()) + time;
    WorkOn();
    while (*ThreadCpu(tid()) < until) absl::SleepFor(absl::Milliseconds(1));
    Rest();
  }
  // Returns when it works.
  void WorkOn() {
    const absl::Duration before = *ThreadCpu(tid());
    works_.store(true);
    while (*ThreadCpu(tid()) < before + absl::Milliseconds(5)) {
    }
  }
  void Rest() { works_.store(false); }

 private:
  void Run(const char* name) {
    pthread_setname_np(pthread_self(), name);
    tid_.store(gettid());
    while (!ends_.load()) {
      if (!works_.load()) absl::SleepFor(absl::Milliseconds(1));
    }
  }

  std::atomic<pid_t> tid_{0};
  std::atomic<bool> works_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

class PreferredThreadsTest : public testing::Test {
 protected:
  // What the test itself may not do, it cannot test.
  void SetUp() override {
    if (!preferred_.Begin(kNow)) GTEST_SKIP() << "not verified: needs CAP_SYS_NICE";
  }

  NamedThread first_{kName};
  NamedThread second_{kName};
  NamedThread other_{"jtrace does not"};
  ThreadPriorityBoost preferred_{{"no such thread", kName}};
};

TEST_F(PreferredThreadsTest, OnlyThoseOfTheName) {
  EXPECT_EQ(NiceOf(first_.tid()), ThreadPriorityBoost::kNice);
  EXPECT_EQ(NiceOf(second_.tid()), ThreadPriorityBoost::kNice);
  EXPECT_EQ(NiceOf(other_.tid()), kUsual);
  preferred_.End();
  EXPECT_EQ(NiceOf(first_.tid()), kUsual);
  EXPECT_EQ(NiceOf(second_.tid()), kUsual);
}

TEST_F(PreferredThreadsTest, UntilTheyRest) {
  second_.Work(absl::Milliseconds(300));
  EXPECT_EQ(preferred_.EndIfIdle(kNow + absl::Milliseconds(100)), kNow + absl::Milliseconds(500));
  EXPECT_EQ(preferred_.EndIfIdle(kNow + absl::Seconds(1)), kNow + absl::Milliseconds(1500));
  EXPECT_EQ(NiceOf(first_.tid()), ThreadPriorityBoost::kNice);
  EXPECT_EQ(preferred_.EndIfIdle(kNow + absl::Seconds(3)), absl::InfiniteFuture());
  EXPECT_EQ(NiceOf(first_.tid()), kUsual);
  EXPECT_EQ(NiceOf(second_.tid()), kUsual);
  EXPECT_EQ(preferred_.EndIfIdle(kNow + absl::Seconds(4)), absl::InfiniteFuture());
}

TEST_F(PreferredThreadsTest, NotWithoutEnd) {
  for (absl::Time now = kNow + absl::Milliseconds(500);; now += absl::Milliseconds(500)) {
    first_.Work(absl::Milliseconds(130));
    if (preferred_.EndIfIdle(now) == absl::InfiniteFuture()) {
      EXPECT_EQ(now, kNow + ThreadPriorityBoost::kMaxPriorityTime);
      break;
    }
    ASSERT_LE(now, kNow + absl::Minutes(1));
  }
  EXPECT_EQ(NiceOf(first_.tid()), kUsual);
}

TEST_F(PreferredThreadsTest, KnowsWhetherTheyWork) {
  const absl::Duration before = preferred_.CpuTime();
  first_.Work(absl::Milliseconds(20));
  EXPECT_GE(preferred_.CpuTime(), before + absl::Milliseconds(20));
  first_.WorkOn();
  EXPECT_TRUE(preferred_.AreBusy());
  first_.Rest();
  while (preferred_.AreBusy()) absl::SleepFor(absl::Milliseconds(1));
}

TEST_F(PreferredThreadsTest, AClockThatIsSetBackEndsIt) {
  first_.Work(absl::Milliseconds(20));
  EXPECT_EQ(preferred_.EndIfIdle(kNow - absl::Hours(1)), absl::InfiniteFuture());
  EXPECT_EQ(NiceOf(first_.tid()), kUsual);
}

TEST_F(PreferredThreadsTest, OneThatHadTheValueKeepsIt) {
  preferred_.End();
  ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(first_.tid()), ThreadPriorityBoost::kNice),
            0);
  ASSERT_TRUE(preferred_.Begin(kNow));
  preferred_.End();
  EXPECT_EQ(NiceOf(first_.tid()), ThreadPriorityBoost::kNice);
  EXPECT_EQ(NiceOf(second_.tid()), kUsual);
}

// As the JVM's compilers do.
TEST_F(PreferredThreadsTest, ThreadsThatTheyMadeLoseItAsWell) {
  pid_t made = 0;
  std::thread maker([&] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), ThreadPriorityBoost::kNice);
    const NamedThread inherits(kName);
    made = inherits.tid();
    EXPECT_EQ(NiceOf(made), ThreadPriorityBoost::kNice);
    preferred_.End();
    EXPECT_EQ(NiceOf(made), kUsual);
  });
  maker.join();
  EXPECT_NE(made, 0);
}

TEST_F(PreferredThreadsTest, WhatAUserChangedStays) {
  ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(first_.tid()), 5), 0);
  preferred_.End();
  EXPECT_EQ(NiceOf(first_.tid()), 5);
  EXPECT_EQ(NiceOf(second_.tid()), kUsual);
}

TEST_F(PreferredThreadsTest, TheValueFromBeforeReturns) {
  preferred_.End();
  ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(first_.tid()), 3), 0);
  ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(second_.tid()), -2), 0);
  ASSERT_TRUE(preferred_.Begin(kNow));
  ASSERT_TRUE(preferred_.Begin(kNow + absl::Seconds(1)));
  EXPECT_EQ(NiceOf(first_.tid()), ThreadPriorityBoost::kNice);
  preferred_.End();
  EXPECT_EQ(NiceOf(first_.tid()), 3);
  EXPECT_EQ(NiceOf(second_.tid()), -2);
}

TEST(PreferredThreadsWithoutRightTest, NothingChanges) {
  const NamedThread thread(kName);
  std::thread([&] {
    // The call, unlike glibc's function, changes this thread only.
    constexpr int kNobody = 65534;
    if (geteuid() == 0) {
      ASSERT_EQ(syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
    }
    rlimit limit = {};
    getrlimit(RLIMIT_NICE, &limit);
    if (limit.rlim_cur > 20) GTEST_SKIP() << "not verified: this user may raise priorities";
    ThreadPriorityBoost preferred({kName});
    EXPECT_FALSE(preferred.Begin(kNow));
    EXPECT_EQ(preferred.EndIfIdle(kNow), absl::InfiniteFuture());
  }).join();
  EXPECT_EQ(NiceOf(thread.tid()), kUsual);
}

}  // namespace
}  // namespace jtrace
