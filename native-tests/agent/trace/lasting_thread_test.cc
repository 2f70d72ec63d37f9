#include <signal.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "agent/trace/drain_thread.h"
#include "gtest/gtest.h"

namespace jtrace::trace {
namespace {

TEST(LastingThreadTest, AllWorkRunsOnOneThreadOneAfterTheOther) {
  LastingThread thread("lasting");
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

TEST(LastingThreadTest, EndsAfterItsWork) {
  bool done = false;
  {
    LastingThread thread("lasting");
    thread.Begin([&] {
      usleep(20'000);
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

TEST(LastingThreadTest, SignalsOfTheProgramDoNotLandOnIt) {
  LastingThread thread("lasting");
  sigset_t seen;
  thread.Begin([&] { pthread_sigmask(SIG_SETMASK, nullptr, &seen); });
  thread.Wait();
  EXPECT_EQ(sigismember(&seen, SIGTERM), 1);
  EXPECT_EQ(sigismember(&seen, SIGPROF), 1);
  EXPECT_EQ(sigismember(&seen, SIGSEGV), 0);
}

}  // namespace
}  // namespace jtrace::trace
