// What the program wants done on SIGTRAP while the kernel has our handler there: hooks in native
// code need it in front, and whoever installs another one must not notice.
#ifndef JTRACE_AGENT_HOT_TRAP_ACTION_H_
#define JTRACE_AGENT_HOT_TRAP_ACTION_H_

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace jtrace::hot {

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

// Asks the kernel itself: libc's sigaction or, where that leads here (GuardedSigaction), what is
// behind it.
extern constinit std::atomic<Sigaction> kernel_sigaction;

// Of SIGTRAP, before the first hook of the process. previous_actions has what the program wants
// now: that may be a handler that calls ours, if it was installed by a system call of its own.
extern constinit std::atomic<const struct sigaction*> first_trap_action;

// More different actions for SIGTRAP than KeepAction has room for: hooks were taken out, the kernel
// has the program's action, and there are no hooks in this process any more.
extern constinit std::atomic<bool> are_trap_actions_full;

// A copy that lives for ever, one for all that are equal: handlers may hold it for good. Null:
// there is no room. Async-signal-safe.
const struct sigaction* KeepAction(const struct sigaction& action);

enum class Front {
  kOurs,
  kNoRoom,  // KeepAction has none for what is there
  kFailed,  // errno
};
// Puts our handler of SIGTRAP in front, if it is not there. What is there becomes the program's, in
// previous_actions. Async-signal-safe.
Front TakeFront();
// How often it had been there and was not any more: another one may have had traps of hooks.
extern constinit std::atomic<uint64_t> trap_fronts_taken;

// Of SA_RESETHAND: the handler runs once. Returns what to do with this signal; previous_actions has
// the rest from now on. Async-signal-safe.
const struct sigaction* TakeTrapAction();

// What libc's sigaction, signal and their like do for SIGTRAP from the first hook on: the program's
// action is kept and reported as if the kernel had it. Any thread, in handlers too; in a child
// between vfork and exec, whose memory is its parent's, nothing is changed.
int GuardedSigaction(int signal, const struct sigaction* action, struct sigaction* old);

// In memory that a child of fork finds zero: the process that GuardedSigaction keeps actions for.
extern constinit std::atomic<std::atomic<int32_t>*> trap_action_owner;

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_TRAP_ACTION_H_
