// The program's use of SIGTRAP while there are hooks: it gets all of its own traps and none of
// theirs.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "agent/native_hooks/trap_signal.h"
#include "native-tests/agent/native_hooks/sigaction_guard_fixture.h"

namespace jtrace::native_hooks {
namespace {

TEST_F(SigactionGuardTest, AHandlerInstalledLaterGetsNoTrapsOfHooks) {
  constexpr int kThreads = 4;
  constexpr int64_t kCallsOfThread = 20'000;
  std::atomic<int64_t> wrong{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int64_t i = 0; i < kCallsOfThread; ++i) wrong += hooked_add(i) != 3 * i + 1;
      --running;
    });
  }
  do {
    for (const Way way : kWays) {
      way();
      EXPECT_TRUE(IsOursInKernel());
    }
  } while (running != 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(traps, 0);
  EXPECT_EQ(Calls("hooked_add").calls, uint64_t{kThreads} * kCallsOfThread);
}

// From several threads at once: each gets an action that one of the others had set.
TEST_F(SigactionGuardTest, NoActionIsLostOrInvented) {
  constexpr int kThreads = 4;
  constexpr int kChanges = 5'000;
  // Each thread's own flags show whose action it is.
  constexpr int kFlags[kThreads] = {SA_SIGINFO, SA_SIGINFO | SA_RESTART, SA_SIGINFO | SA_NODEFER,
                                    SA_SIGINFO | SA_ONSTACK};
  std::atomic<int> set[kThreads] = {}, seen[kThreads] = {};
  const auto whose = [&](const struct sigaction& action) {
    constexpr int kOwn = SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK;
    for (int t = 0; t < kThreads; ++t) {
      if (action.sa_sigaction == &Note && (action.sa_flags & kOwn) == kFlags[t]) return t;
    }
    return -1;
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kChanges; ++i) {
        struct sigaction action = NotingAction();
        action.sa_flags = kFlags[t];
        struct sigaction old {};
        sigaction(SIGTRAP, &action, &old);
        ++set[t];
        if (const int before = whose(old); before >= 0) ++seen[before];
        hooked_add(i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int left = whose(ActionOf(SIGTRAP));
  ASSERT_GE(left, 0);
  ++seen[left];
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(seen[t], set[t]) << t;
  EXPECT_EQ(traps, 0);
}

TEST_F(SigactionGuardTest, ReportsTheProgramsAction) {
  EXPECT_NE(before_.sa_sigaction, &HandleTrapSignal);
  struct sigaction action = NotingAction();
  action.sa_flags |= SA_NODEFER;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaddset(&action.sa_mask, SIGKILL);
  struct sigaction old {};
  ASSERT_EQ(sigaction(SIGTRAP, &action, &old), 0);
  EXPECT_EQ(old.sa_handler, before_.sa_handler);
  // The same as for a signal that the kernel handles.
  struct sigaction kernels {};
  sigaction(SIGUSR2, &action, &old);
  sigaction(SIGUSR2, &old, &kernels);
  const struct sigaction reported = ActionOf(SIGTRAP);
  EXPECT_EQ(reported.sa_sigaction, kernels.sa_sigaction);
  EXPECT_EQ(reported.sa_flags, kernels.sa_flags);
  EXPECT_EQ(reported.sa_restorer, kernels.sa_restorer);
  EXPECT_EQ(std::memcmp(&reported.sa_mask, &kernels.sa_mask, sizeof(uint64_t)), 0);
  EXPECT_TRUE(IsNote(signal(SIGTRAP, SIG_IGN)));
  EXPECT_EQ(signal(SIGTRAP, SIG_DFL), SIG_IGN);
}

TEST_F(SigactionGuardTest, TheProgramsTrapsReachItsHandler) {
  struct sigaction action = NotingAction();
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGTRAP, &action, nullptr);
  hooked_add(1);
  EXPECT_EQ(traps, 0);
  raise(SIGTRAP);
  EXPECT_EQ(traps, 1);
  EXPECT_EQ(last.si_code, SI_TKILL);
  EXPECT_EQ(last.si_pid, getpid());
  // What the kernel would block there, except SIGTRAP itself.
  EXPECT_EQ(blocked_in_handler, uint64_t{1} << (SIGUSR1 - 1));
  sigval value = {};
  value.sival_int = 47;
  sigqueue(getpid(), SIGTRAP, value);
  EXPECT_EQ(traps, 2);
  EXPECT_EQ(last.si_value.sival_int, 47);
  const uintptr_t after = OwnTrap();
  EXPECT_EQ(traps, 3);
  EXPECT_EQ(last.si_code, SI_KERNEL);
  EXPECT_EQ(last_pc, after);
  hooked_add(1);
  EXPECT_EQ(traps, 3);
  EXPECT_EQ(Calls("hooked_add").calls, 2u);
}

TEST_F(SigactionGuardTest, SystemCallsAreRestartedAsTheProgramSays) {
  const auto is_restarting = [] { return (KernelActionOf(SIGTRAP).flags & SA_RESTART) != 0; };
  struct sigaction action = NotingAction();
  sigaction(SIGTRAP, &action, nullptr);
  EXPECT_FALSE(is_restarting());
  action.sa_flags |= SA_RESTART;
  sigaction(SIGTRAP, &action, nullptr);
  EXPECT_TRUE(is_restarting());
  signal(SIGTRAP, SIG_DFL);  // which interrupts none
  EXPECT_TRUE(is_restarting());
}

TEST_F(SigactionGuardTest, AOneShotHandlerRunsOnce) {
  struct sigaction action = NotingAction();
  action.sa_flags |= SA_RESETHAND;
  sigaction(SIGTRAP, &action, nullptr);
  raise(SIGTRAP);
  EXPECT_EQ(traps, 1);
  EXPECT_EQ(ActionOf(SIGTRAP).sa_handler, SIG_DFL);
  hooked_add(1);
  EXPECT_EXIT(raise(SIGTRAP), ::testing::KilledBySignal(SIGTRAP), "");
}

// The default has no function, regardless of the flags.
TEST_F(SigactionGuardTest, TheDefaultActionIgnoresFlagsOfAHandler) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  EXPECT_EXIT(raise(SIGTRAP), ::testing::KilledBySignal(SIGTRAP), "");
  action.sa_handler = SIG_IGN;
  sigaction(SIGTRAP, &action, nullptr);
  raise(SIGTRAP);
  EXPECT_EQ(hooked_add(5), 16);
}

}  // namespace
}  // namespace jtrace::native_hooks
