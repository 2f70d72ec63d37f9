// What the kernel does on a signal, asked for by system calls past libc.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace jtrace::testing {

// As the kernel has it (x86-64).
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

// Needs a restorer: take the action of a signal that libc has set a handler for, and change it.
inline void SetKernelAction(int signal, const KernelAction& action) {
  syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}

}  // namespace jtrace::testing
