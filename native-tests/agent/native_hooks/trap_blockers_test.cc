#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <latch>
#include <thread>

#include "agent/native_hooks/hooks.h"
#include "agent/native_hooks/trap_signal.h"
#include "native-tests/agent/native_hooks/hooked_functions.h"

namespace jtrace::native_hooks {
namespace {

TEST(TrapBlockersTest, NamesThreads) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's runtime blocks signals itself";
#endif
  EXPECT_THAT(FindTrapBlockers(), testing::IsEmpty());
  std::latch blocked(1);
  std::latch seen(1);
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "deaf");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    blocked.count_down();
    seen.wait();
  });
  blocked.wait();
  EXPECT_THAT(FindTrapBlockers(), testing::ElementsAre("thread 'deaf'"));
  Losses losses;
  Hooks hooks(losses);
  hooks.Begin({HookSpec{"libc.so.6", "getppid", HookKind::kCount}});
  EXPECT_TRUE(hooks.All().empty());
  EXPECT_THAT(losses.Snapshot()[0].what, testing::HasSubstr("'deaf'"));
  hooks.End();
  seen.count_down();
  thread.join();
}

TEST(TrapBlockersTest, NamesHandlersThatBlockAllSignals) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's runtime blocks signals itself";
#endif
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR2, &action, nullptr);
  // In the test's own object, which is jtrace here: such handlers count as jtrace's.
  EXPECT_THAT(FindTrapBlockers(), testing::IsEmpty());
  action.sa_handler = &handle_nothing;
  sigaction(SIGUSR2, &action, nullptr);
  EXPECT_THAT(FindTrapBlockers(),
              testing::ElementsAre("the handler of SIGUSR2 in libhooked_functions.so"));
  signal(SIGUSR2, SIG_DFL);
  EXPECT_THAT(FindTrapBlockers(), testing::IsEmpty());
}

}  // namespace
}  // namespace jtrace::native_hooks
