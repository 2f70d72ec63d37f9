// The actions that the program had for signals before the agent's handlers were installed.
#pragma once

#include <signal.h>

#include <atomic>

namespace jtrace::signal_safe {

// The action that each signal had before the agent's; null for signals for which the agent never
// installed a handler. The actions are never freed, because handlers may be using them.
inline constexpr int kSignals = 65;
extern constinit std::atomic<const struct sigaction*> previous_actions[kSignals];

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

// Gets and sets the kernel's action: libc's sigaction or, once native hooks have redirected that to
// native_hooks::InterceptedSigaction, the function in libc that it led to before.
extern constinit std::atomic<Sigaction> kernel_sigaction;

// Calls the handler of previous_actions[signal], or does what would have happened without the
// agent. Inside a handler of `signal`; the program's handler may block, or never return.
void ForwardSignal(int signal, siginfo_t* info, void* context);

// Whether the action is a handler, not the default and not "ignore".
bool IsHandler(const struct sigaction& action);
// Calls the action if it is a handler; returns whether it is.
bool CallHandler(const struct sigaction& action, int signal, siginfo_t* info, void* context);
// Installs `action`, the default one, and raises the signal, so that it ends the program.
void RaiseDefaultAction(const struct sigaction& action, int signal);

}  // namespace jtrace::signal_safe
