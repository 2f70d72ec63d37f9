#include "agent/native_hooks/trap_action.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "agent/native_hooks/hook_handler.h"
#include "agent/signal_safe/patch_sites.h"
#include "agent/signal_safe/previous_actions.h"

namespace jtrace::native_hooks {

constinit std::atomic<const struct sigaction*> first_trap_action{nullptr};
constinit std::atomic<uint64_t> trap_handler_replacements{0};
constinit std::atomic<bool> has_disabled_hooks{false};
constinit std::atomic<std::atomic<int32_t>*> trap_action_owner{nullptr};

namespace {

// There is no lock: the caller may be a handler that has interrupted another caller, or a child of
// a fork that came during a call.
struct StoredAction {
  enum State : uint32_t { kFree, kBeingWritten, kReady };

  std::atomic<uint32_t> state;
  struct sigaction action;
};
constexpr int kMaxActions = 256;
constinit StoredAction kept_actions[kMaxActions] = {};

// The kernel's part of a set of signals; libc's sigset_t is larger, and the rest is undefined.
uint64_t MaskOf(const struct sigaction& action) {
  uint64_t mask = 0;
  std::memcpy(&mask, &action.sa_mask, sizeof mask);
  return mask;
}

bool AreEqual(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags &&
         a.sa_restorer == b.sa_restorer && MaskOf(a) == MaskOf(b);
}

bool IsOurs(const struct sigaction& action) { return action.sa_sigaction == HandleTrapSignal; }

constexpr uint64_t Bit(int signal) { return uint64_t{1} << (signal - 1); }

// Installs our handler, with the program's SA_RESTART: system calls continue or fail as before.
int SetTrapHandler(const struct sigaction& programs, struct sigaction* old) {
  constexpr uint64_t kOpen =  // faults, and those that libc reserves
      Bit(SIGSEGV) | Bit(SIGBUS) | Bit(SIGFPE) | Bit(SIGILL) | Bit(SIGTRAP) | Bit(32) | Bit(33);
  constexpr uint64_t kBlocked = ~kOpen;
  const bool is_handled = programs.sa_handler != SIG_DFL && programs.sa_handler != SIG_IGN;
  struct sigaction action {};
  action.sa_sigaction = HandleTrapSignal;
  // On the alternate stack where there is one: some threads have small stacks.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  action.sa_flags |= is_handled ? programs.sa_flags & SA_RESTART : SA_RESTART;
  std::memcpy(&action.sa_mask, &kBlocked, sizeof kBlocked);
  return signal_safe::kernel_sigaction.load()(SIGTRAP, &action, old);
}

// The action as the kernel would report it.
struct sigaction AsInKernel(const struct sigaction& action) {
  constexpr int kHasRestorer = 0x04000000;
  struct sigaction ours {};
  signal_safe::kernel_sigaction.load()(SIGTRAP, nullptr, &ours);
  struct sigaction kernels = action;
  kernels.sa_flags |= ours.sa_flags & kHasRestorer;
  kernels.sa_restorer = ours.sa_restorer;
  const uint64_t mask = MaskOf(action) & ~(Bit(SIGKILL) | Bit(SIGSTOP));
  std::memcpy(&kernels.sa_mask, &mask, sizeof mask);
  return kernels;
}

void Report(const struct sigaction& action, struct sigaction* old) {
  if (old == nullptr) return;
  old->sa_handler = action.sa_handler;
  old->sa_flags = action.sa_flags;
  old->sa_restorer = action.sa_restorer;
  const uint64_t mask = MaskOf(action);
  std::memcpy(&old->sa_mask, &mask, sizeof mask);
}

// Whether this is a child between vfork and exec. A child of fork, with owner 0, becomes owner.
bool IsMemoryOfParent() {
  std::atomic<int32_t>* const owner = trap_action_owner.load(std::memory_order_acquire);
  if (owner == nullptr) return false;
  const auto self = static_cast<int32_t>(syscall(SYS_getpid));
  int32_t known = 0;
  return !owner->compare_exchange_strong(known, self) && known != self;
}

// Gives the kernel the program's action, which there is no room to keep, and removes all hooks.
int LeaveToKernel(int signal, const struct sigaction* action, struct sigaction* old) {
  has_disabled_hooks.store(true);
  signal_safe::DisableAllHooks();
  const struct sigaction* const before = signal_safe::previous_actions[signal].load();
  const int result = signal_safe::kernel_sigaction.load()(signal, action, nullptr);
  if (result == 0) Report(*before, old);
  return result;
}

}  // namespace

const struct sigaction* StoreAction(const struct sigaction& action) {
  for (StoredAction& kept : kept_actions) {
    uint32_t state = kept.state.load(std::memory_order_acquire);
    if (state == StoredAction::kFree &&
        kept.state.compare_exchange_strong(state, StoredAction::kBeingWritten)) {
      kept.action = action;
      kept.state.store(StoredAction::kReady, std::memory_order_release);
      return &kept.action;
    }
    if (state == StoredAction::kReady && AreEqual(kept.action, action)) return &kept.action;
  }
  return nullptr;
}

InstallResult InstallTrapHandler() {
  if (has_disabled_hooks.load()) return InstallResult::kNoRoom;
  const struct sigaction* before = signal_safe::previous_actions[SIGTRAP].load();
  struct sigaction current;
  if (signal_safe::kernel_sigaction.load()(SIGTRAP, nullptr, &current) != 0)
    return InstallResult::kFailed;
  if (IsOurs(current)) return InstallResult::kInstalled;
  const struct sigaction* programs = StoreAction(current);
  if (programs == nullptr) return InstallResult::kNoRoom;
  const struct sigaction* first = nullptr;
  if (!first_trap_action.compare_exchange_strong(first, programs))
    trap_handler_replacements.fetch_add(1);
  // If another thread has set an action meanwhile, that is the later one, and stays.
  if (!signal_safe::previous_actions[SIGTRAP].compare_exchange_strong(before, programs)) {
    programs = before;
  }
  struct sigaction replaced;
  if (SetTrapHandler(*programs, &replaced) != 0) return InstallResult::kFailed;
  // A system call has set another action since `current` was read.
  if (!IsOurs(replaced) && !AreEqual(replaced, current)) {
    const struct sigaction* const later = StoreAction(replaced);
    if (later == nullptr) return InstallResult::kNoRoom;
    signal_safe::previous_actions[SIGTRAP].compare_exchange_strong(programs, later);
  }
  return InstallResult::kInstalled;
}

const struct sigaction* ConsumeTrapAction() {
  const struct sigaction* action = signal_safe::previous_actions[SIGTRAP].load();
  while (action != nullptr && (action->sa_flags & SA_RESETHAND) != 0) {
    struct sigaction rest = *action;
    rest.sa_handler = SIG_DFL;
    const struct sigaction* const kept = StoreAction(rest);
    if (kept == nullptr ||
        signal_safe::previous_actions[SIGTRAP].compare_exchange_strong(action, kept)) {
      break;
    }
  }
  return action;
}

int InterceptedSigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  const bool is_ours =
      signal_safe::previous_actions[signal].load() != nullptr && !has_disabled_hooks.load();
  if (!is_ours) return signal_safe::kernel_sigaction.load()(signal, action, old);
  if (IsMemoryOfParent()) {
    Report(*signal_safe::previous_actions[signal].load(), old);
    return 0;
  }
  // First an action that a system call has set becomes the program's.
  if (InstallTrapHandler() == InstallResult::kNoRoom) return LeaveToKernel(signal, action, old);
  const struct sigaction* before = signal_safe::previous_actions[signal].load();
  if (action != nullptr) {
    const struct sigaction* const kept = StoreAction(AsInKernel(*action));
    if (kept == nullptr) return LeaveToKernel(signal, action, old);
    before = signal_safe::previous_actions[signal].exchange(kept);
    SetTrapHandler(*kept, nullptr);
  }
  Report(*before, old);
  return 0;
}

}  // namespace jtrace::native_hooks
