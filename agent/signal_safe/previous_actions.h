// The actions that the program had for signals before the agent's handlers were installed.
#pragma once

#include <signal.h>

#include <atomic>

namespace jtrace::signal_safe {

// The action of each signal before ours; null for signals that none of our handlers was ever
// installed for. The actions live forever, because handlers may be using them.
inline constexpr int kSignals = 65;
extern constinit std::atomic<const struct sigaction*> previous_actions[kSignals];

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

// Calls the kernel itself: libc's sigaction or, where that leads to the agent because of hooks in
// native code (native_hooks::GuardedSigaction), the one after it.
extern constinit std::atomic<Sigaction> kernel_sigaction;

// Calls the handler of previous_actions[signal], or does what would have happened without ours.
// Inside a handler of `signal`; the program's handler may block, or never return.
void ForwardSignal(int signal, siginfo_t* info, void* context);

// Whether it is a handler, not the default and not "ignore".
bool IsHandler(const struct sigaction& action);
// Calls the action if it is a handler. False: it is not.
bool CallHandler(const struct sigaction& action, int signal, siginfo_t* info, void* context);
// Ends the program by the signal, as it would have ended. `action`: the default.
void EndBy(const struct sigaction& action, int signal);

}  // namespace jtrace::signal_safe
