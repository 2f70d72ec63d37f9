// Keeps the program's action for SIGTRAP while the kernel has our handler: hooks in native code
// need it in front, and code that installs another one must not notice.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace jtrace::native_hooks {

// The action of SIGTRAP before the first hook of the process. signal_safe::previous_actions has the
// program's present action: that may be a handler that calls ours, if the program installed it by a
// system call.
extern constinit std::atomic<const struct sigaction*> first_trap_action;

// Set when there are more different actions for SIGTRAP than StoreAction has room for: hooks were
// taken out, the kernel has the program's action, and there are no hooks in this process any more.
extern constinit std::atomic<bool> are_trap_actions_full;

// A copy that lives forever, one for all that are equal: handlers may keep it permanently. Null:
// there is no room. Async-signal-safe.
const struct sigaction* StoreAction(const struct sigaction& action);

// The result of InstallInFront.
enum class Front {
  kOurs,
  kNoRoom,  // StoreAction has none for the present action
  kFailed,  // errno
};
// Installs our handler of SIGTRAP, if it is not installed. The previous action becomes the
// program's, in signal_safe::previous_actions. Async-signal-safe.
Front InstallInFront();
// How often it had been installed and was not any more: another handler may have had traps of
// hooks.
extern constinit std::atomic<uint64_t> trap_fronts_taken;

// For SA_RESETHAND: the handler runs once. Returns the action for this signal;
// signal_safe::previous_actions has the rest from now on. Async-signal-safe.
const struct sigaction* ConsumeTrapAction();

// Replaces libc's sigaction, signal and similar functions for SIGTRAP from the first hook on: the
// program's action is kept and reported as if the kernel had it. Any thread, in handlers too; in a
// child between vfork and exec, whose memory is its parent's, nothing is changed.
int GuardedSigaction(int signal, const struct sigaction* action, struct sigaction* old);

// In memory that is zero in a child of fork: the process that GuardedSigaction keeps actions for.
extern constinit std::atomic<std::atomic<int32_t>*> trap_action_owner;

}  // namespace jtrace::native_hooks
