// The same in threads that block SIGTRAP, in children, without libc, and when there is no more
// room.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "agent/native_hooks/trap_action.h"
#include "native-tests/agent/native_hooks/sigaction_guard_fixture.h"

namespace jtrace::native_hooks {
namespace {

class SigactionGuardLimitsTest : public SigactionGuardTest {};

// In a thread in which an int3 would end the program.
TEST_F(SigactionGuardLimitsTest, AThreadThatBlocksTrapsMayCallSigaction) {
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    for (const Way way : kWays) way();
    kWays[0]();
  }).join();
  raise(SIGTRAP);
  EXPECT_EQ(traps, 1);
}

TEST_F(SigactionGuardLimitsTest, AChildOfForkHasItsOwnAction) {
  signal(SIGTRAP, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    kWays[0]();
    raise(SIGTRAP);
    _exit(hooked_add(5) == 16 && traps == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ActionOf(SIGTRAP).sa_handler, SIG_IGN);
}

// As programs do that start others.
void ResetAllSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
}

TEST_F(SigactionGuardLimitsTest, AChildOfVforkChangesNothingOfItsParents) {
  kWays[0]();
  // NOLINTBEGIN: vfork is what is tested
  const pid_t child = vfork();
  if (child == 0) {
    ResetAllSignals();
    _exit(hooked_add(5) == 16 ? 0 : 1);
  }
  // NOLINTEND
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  raise(SIGTRAP);
  EXPECT_EQ(traps, 1);
}

// It is found at the next look, and belongs to the program from then on.
TEST_F(SigactionGuardLimitsTest, FindsAHandlerSetByASystemCall) {
  const uint64_t before = AllLosses().Count("hook.handler_replaced");
  KernelAction action = KernelActionOf(SIGTRAP);
  action.handler = &Note;
  SetKernelAction(SIGTRAP, action);
  hooks_.EnsureTrapHandler();
  EXPECT_TRUE(IsOursInKernel());
  EXPECT_EQ(hooked_add(5), 16);
  EXPECT_EQ(traps, 0);
  raise(SIGTRAP);
  EXPECT_EQ(traps, 1);
  EXPECT_EQ(ActionOf(SIGTRAP).sa_sigaction, &Note);
  EXPECT_EQ(AllLosses().Count("hook.handler_replaced"), before + 1);
}

// Nor does a call of sigaction wait for it.
TEST_F(SigactionGuardLimitsTest, ReportsAHandlerSetByASystemCallAtOnce) {
  KernelAction action = KernelActionOf(SIGTRAP);
  action.handler = &Note;
  SetKernelAction(SIGTRAP, action);
  EXPECT_TRUE(IsNote(signal(SIGTRAP, SIG_IGN)));
  EXPECT_TRUE(IsOursInKernel());
  EXPECT_EQ(hooked_add(5), 16);
  EXPECT_EQ(traps, 0);
}

// Hooks are removed before the kernel gets an action that cannot be kept.
void SetMoreThanCanBeKept(Hooks& hooks) {
  constexpr uint64_t kMany = 1000;
  for (uint64_t mask = 1; mask <= kMany; ++mask) {
    struct sigaction action = NotingAction();
    std::memcpy(&action.sa_mask, &mask, sizeof mask);
    sigaction(SIGTRAP, &action, nullptr);
    if (hooked_add(5) != 16) _exit(1);
  }
  if (traps != 0 || IsOursInKernel() || !has_disabled_hooks) _exit(2);
  raise(SIGTRAP);
  if (traps != 1) _exit(3);
  hooks.EnsureTrapHandler();
  if (!hooks.All().empty()) _exit(4);
  const auto again = hooks.Apply(Specs(In("hooked_add", "count")));
  _exit(again.ok() ? 5 : 0);
}

TEST_F(SigactionGuardLimitsTest, TooManyActionsEndTheHooksNotTheProgram) {
  EXPECT_EXIT(SetMoreThanCanBeKept(hooks_), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jtrace::native_hooks
