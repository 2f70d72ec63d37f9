#include "agent/hooks/trap_signal.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/hooks/trap_blockers.h"
#include "agent/hot/hook_handler.h"
#include "agent/hot/hook_thread.h"
#include "agent/hot/sample_handler.h"

namespace jtrace::hooks {
namespace {

absl::Status ReserveThreads() {
  if (hot::hook_threads.load() != nullptr) return absl::OkStatus();
  void* const memory =
      mmap(nullptr, sizeof(hot::HookThread) * hot::kMostHookThreads, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "no address space for hooks");
  hot::hook_threads.store(static_cast<hot::HookThread*>(memory), std::memory_order_release);
  return absl::OkStatus();
}

}  // namespace

absl::Status KeepHandler() {
  struct sigaction current;
  if (sigaction(SIGTRAP, nullptr, &current) != 0) return absl::ErrnoToStatus(errno, "sigaction");
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == hot::HandleTrapSignal) {
    return absl::OkStatus();
  }
  // Handlers may hold the one before for good.
  const auto* const before = new struct sigaction(current);
  if (hot::first_trap_action.load() == nullptr) hot::first_trap_action.store(before);
  hot::previous_actions[SIGTRAP].store(before);
  struct sigaction action {};
  action.sa_sigaction = hot::HandleTrapSignal;
  // On the alternate stack where there is one: some threads have little of their own.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
    sigdelset(&action.sa_mask, fault);
  }
  if (sigaction(SIGTRAP, &action, nullptr) != 0) return absl::ErrnoToStatus(errno, "sigaction");
  return absl::OkStatus();
}

absl::Status CheckTraps() {
  const std::vector<std::string> deaf = WhatBlocksTraps();
  if (!deaf.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(absl::StrJoin(deaf, ", "), deaf.size() == 1 ? " blocks" : " block",
                     " SIGTRAP, by which hooks work: a hook there would end the program"));
  }
  return KeepHandler();
}

absl::Status ReadyTraps() {
  if (absl::Status status = ReserveThreads(); !status.ok()) return status;
  return CheckTraps();
}

uint64_t ObjectsLoadedSoFar() {
  uint64_t loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        *static_cast<uint64_t*>(into) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

}  // namespace jtrace::hooks
