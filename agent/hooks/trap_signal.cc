#include "agent/hooks/trap_signal.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/hooks/sigaction_guard.h"
#include "agent/hooks/trap_blockers.h"
#include "agent/hot/hook_thread.h"
#include "agent/hot/trap_action.h"

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
  switch (hot::TakeFront()) {
    case hot::Front::kOurs:
      return absl::OkStatus();
    case hot::Front::kNoRoom:
      return absl::FailedPreconditionError(
          "the program has had too many different actions for SIGTRAP, which hooks use");
    case hot::Front::kFailed:
      break;
  }
  return absl::ErrnoToStatus(errno, "sigaction");
}

absl::Status CheckTraps() {
  const std::vector<std::string> deaf = WhatBlocksTraps();
  if (!deaf.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(absl::StrJoin(deaf, ", "), deaf.size() == 1 ? " blocks" : " block",
                     " SIGTRAP, which hooks use: a hook there would end the program"));
  }
  return KeepHandler();
}

absl::Status ReadyTraps() {
  if (absl::Status status = ReserveThreads(); !status.ok()) return status;
  GuardSigaction().IgnoreError();  // Hooks reports it
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
