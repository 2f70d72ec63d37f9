// The kernel's action for a signal, by system calls that bypass libc.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace jtrace::testing {

// The kernel's layout (x86-64).
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  uint64_t flags;
  void (*restorer)();
  uint64_t mask;
};

inline KernelAction KernelActionOf(int signal) {
  KernelAction action = {};
  syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask);
  return action;
}

// Needs a restorer: read the action of a signal for which libc has set a handler, and change it.
inline void SetKernelAction(int signal, const KernelAction& action) {
  syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}

}  // namespace jtrace::testing
