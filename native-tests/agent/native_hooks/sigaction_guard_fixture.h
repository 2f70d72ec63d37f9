// Hooks in a process that handles SIGTRAP: what its handler has seen, and the ways to install it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "agent/native_hooks/hook_handler.h"
#include "agent/native_hooks/trap_signal.h"
#include "native-tests/agent/native_hooks/hooks_fixture.h"
#include "native-tests/support/kernel_action.h"

namespace jtrace::native_hooks {

using jtrace::testing::KernelAction;
using jtrace::testing::KernelActionOf;
using jtrace::testing::SetKernelAction;

inline std::atomic<int> traps;
inline siginfo_t last;
inline uintptr_t last_pc;
inline uint64_t blocked_in_handler;

inline void Note(int, siginfo_t* info, void* context) {
  ++traps;
  last = *info;
  last_pc = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  std::memcpy(&blocked_in_handler, &blocked, sizeof blocked_in_handler);
}
inline void NoteShortly(int) { ++traps; }
inline bool IsNote(sighandler_t handler) {
  return reinterpret_cast<void*>(handler) == reinterpret_cast<void*>(&Note);
}

inline struct sigaction NotingAction() {
  struct sigaction action {};
  action.sa_sigaction = &Note;
  action.sa_flags = SA_SIGINFO;
  return action;
}

inline struct sigaction ActionOf(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action;
}

inline bool IsOursInKernel() { return KernelActionOf(SIGTRAP).handler == HandleTrapSignal; }

// The address after its int3.
__attribute__((noinline)) inline uintptr_t OwnTrap() {
  uintptr_t after;
  asm volatile("int3\n\tlea 0(%%rip), %0" : "=r"(after) : : "memory");
  constexpr uintptr_t kLea = 7;
  return after - kLea;
}

class SigactionGuardTest : public HooksTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer's runtime has its own handlers";
#endif
    Begin(In("hooked_add", "count"));
    ASSERT_TRUE(InterceptSigaction().ok()) << InterceptSigaction();
    before_ = ActionOf(SIGTRAP);
    traps = 0;
  }
  void TearDown() override {
    if (!IsSkipped()) sigaction(SIGTRAP, &before_, nullptr);
  }

  struct sigaction before_ {};
};

using Way = void (*)();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
inline constexpr Way kWays[] = {
    [] {
      const struct sigaction action = NotingAction();
      sigaction(SIGTRAP, &action, nullptr);
    },
    [] { signal(SIGTRAP, &NoteShortly); },
    [] { sysv_signal(SIGTRAP, &NoteShortly); },
    [] { sigset(SIGTRAP, &NoteShortly); },
    [] { ssignal(SIGTRAP, &NoteShortly); },
    [] { siginterrupt(SIGTRAP, 1); },
    [] { sigignore(SIGTRAP); },
    [] { signal(SIGTRAP, SIG_DFL); },
    [] {
      const auto found = reinterpret_cast<decltype(&sigaction)>(dlsym(RTLD_DEFAULT, "sigaction"));
      const struct sigaction action = NotingAction();
      found(SIGTRAP, &action, nullptr);
    },
};
#pragma GCC diagnostic pop

}  // namespace jtrace::native_hooks
