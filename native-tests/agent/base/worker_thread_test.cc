#include "agent/base/worker_thread.h"

#include <signal.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace jtrace {
namespace {

TEST(ReusableThreadTest, AllWorkRunsOnOneThreadOneAfterTheOther) {
  WorkerThread thread("reusable");
  EXPECT_EQ(thread.os_tid(), 0);
  thread.Wait();  // for nothing
  std::set<pid_t> tids;
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    thread.Begin([&, i] {
      tids.insert(gettid());
      order.push_back(i);
    });
    thread.Wait();
    ASSERT_EQ(order.size(), static_cast<size_t>(i) + 1);
    ASSERT_EQ(order.back(), i);
  }
  ASSERT_EQ(tids.size(), 1u);
  EXPECT_EQ(*tids.begin(), thread.os_tid());
  EXPECT_NE(thread.os_tid(), gettid());
}

TEST(ReusableThreadTest, EndsAfterItsWork) {
  bool done = false;
  {
    WorkerThread thread("reusable");
    thread.Begin([&] {
      usleep(20'000);
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

TEST(ReusableThreadTest, SignalsOfTheProgramDoNotLandOnIt) {
  WorkerThread thread("reusable");
  sigset_t seen;
  thread.Begin([&] { pthread_sigmask(SIG_SETMASK, nullptr, &seen); });
  thread.Wait();
  EXPECT_EQ(sigismember(&seen, SIGTERM), 1);
  EXPECT_EQ(sigismember(&seen, SIGPROF), 1);
  EXPECT_EQ(sigismember(&seen, SIGSEGV), 0);
}

}  // namespace
}  // namespace jtrace
