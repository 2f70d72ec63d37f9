// Traps that no hook has caused, among several handlers.
#include "agent/native_hooks/trap_signal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <csetjmp>
#include <string_view>

#include "native-tests/support/kernel_action.h"

namespace jtrace::native_hooks {
namespace {

using jtrace::testing::KernelAction;
using jtrace::testing::KernelActionOf;
using jtrace::testing::SetKernelAction;

KernelAction before;
int calls = 0;
sigjmp_buf back;

void Say(std::string_view text) { (void)!write(STDERR_FILENO, text.data(), text.size()); }

// Calls the previous handler, as good handlers do.
void Chain(int signal, siginfo_t* info, void* context) {
  Say(++calls == 1 ? "once" : "again");
  before.handler(signal, info, context);
}

void Leave(int, siginfo_t*, void*) {
  ++calls;
  siglongjmp(back, 1);
}

// Without libc, which would not put it in front of ours.
void Install(void (*handler)(int, siginfo_t*, void*)) {
  before = KernelActionOf(SIGTRAP);
  KernelAction action = before;
  action.handler = handler;
  SetKernelAction(SIGTRAP, action);
}

void Trap() { asm volatile("int3"); }

void TrapUnderAChain() {
  Install(&Chain);
  // Ours again in front of theirs, which calls ours.
  if (CheckTraps().ok()) Trap();
}

TEST(TrapSignalTest, AHandlerThatCallsOursDoesNotLoop) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's runtime passes signals on later";
#endif
  ASSERT_TRUE(PrepareTrapHandler().ok());
  EXPECT_EXIT(TrapUnderAChain(), ::testing::KilledBySignal(SIGTRAP), "^once$");
}

TEST(TrapSignalTest, AHandlerMayNeverComeBack) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's runtime has its own handlers, past which this one is installed";
#endif
  ASSERT_TRUE(PrepareTrapHandler().ok());
  Install(&Leave);
  ASSERT_TRUE(CheckTraps().ok());
  calls = 0;
  for (static int i = 0; i < 5; ++i) {
    if (sigsetjmp(back, 1) == 0) Trap();
  }
  EXPECT_EQ(calls, 5);
  // Ours stays; theirs is no longer used.
  Install(before.handler);
}

}  // namespace
}  // namespace jtrace::native_hooks
