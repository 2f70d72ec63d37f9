// Keeps the program's action for SIGTRAP while the kernel has our handler: hooks in native code
// need ours in front, and code that installs another one must not notice. Async-signal-safe.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace jtrace::native_hooks {

// The action of SIGTRAP before the first hook of the process; null before. The program's present
// action is in signal_safe::previous_actions. If the program installed that by a system call, it
// may be a handler that calls ours.
extern constinit std::atomic<const struct sigaction*> first_trap_action;

// Set for good when the program has had more different actions for SIGTRAP than StoreAction has
// room for. Then the kernel has the program's action, and this process has no hooks any more.
extern constinit std::atomic<bool> has_disabled_hooks;

// Returns a copy that is never freed, because handlers may be using it; equal actions share one.
// Null: there is no room.
const struct sigaction* StoreAction(const struct sigaction& action);

// The result of InstallTrapHandler.
enum class InstallResult {
  kInstalled,
  kNoRoom,  // StoreAction has none for the present action
  kFailed,  // errno
};
// Installs our handler of SIGTRAP, if it is not installed. The action that the kernel had becomes
// the program's, in signal_safe::previous_actions.
InstallResult InstallTrapHandler();
// How often InstallTrapHandler found ours replaced: another handler may have had traps of hooks.
extern constinit std::atomic<uint64_t> trap_handler_replacements;

// Returns the program's action for this trap. If that has SA_RESETHAND, its handler runs once: the
// default replaces it in signal_safe::previous_actions, as in the kernel.
const struct sigaction* ConsumeTrapAction();

// Replaces libc's sigaction, signal and similar functions for SIGTRAP from the first hook on: the
// program's action is kept and reported as if the kernel had it. In a child between vfork and exec,
// whose memory is its parent's, nothing is changed.
int InterceptedSigaction(int signal, const struct sigaction* action, struct sigaction* old);

// The id of the process whose actions InterceptedSigaction keeps, in memory that is zero in a child
// of fork. Null before the first hook.
extern constinit std::atomic<std::atomic<int32_t>*> trap_action_owner;

}  // namespace jtrace::native_hooks
