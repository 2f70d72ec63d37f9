#include "agent/native_hooks/trap_signal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "agent/native_hooks/hook_thread.h"
#include "agent/native_hooks/sigaction_guard.h"
#include "agent/native_hooks/trap_action.h"

// Null before version 2.32 of the C library.
// NOLINTNEXTLINE(readability-redundant-declaration): this one is weak.
extern "C" const char* sigabbrev_np(int signal) noexcept __attribute__((weak));

namespace jtrace::native_hooks {
namespace {

absl::Status ReserveThreads() {
  if (hook_threads.load() != nullptr) return absl::OkStatus();
  void* const memory = mmap(nullptr, sizeof(HookThread) * kMostHookThreads, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "no address space for hooks");
  hook_threads.store(static_cast<HookThread*>(memory), std::memory_order_release);
  return absl::OkStatus();
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np == nullptr ? nullptr : sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal) : absl::StrCat("SIG", name);
}

absl::string_view Basename(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

uint64_t BlockedSignals(const std::string& status_file) {
  std::ifstream lines(status_file);
  std::string line;
  while (std::getline(lines, line)) {
    absl::string_view text = line;
    if (!absl::ConsumePrefix(&text, "SigBlk:\t")) continue;
    return std::strtoull(std::string(text).c_str(), nullptr, 16);
  }
  return 0;
}

bool IsBlocked(uint64_t blocked, int signal) { return (blocked >> (signal - 1) & 1) != 0; }

// The first real-time signal belongs to glibc: only glibc itself blocks it, and only where it calls
// functions that are refused here anyway.
bool BlocksTraps(uint64_t blocked) {
  constexpr int kOfGlibc = 32;
  return IsBlocked(blocked, SIGTRAP) && !IsBlocked(blocked, kOfGlibc);
}

// Handlers of signals may block them all while they run.
bool BlocksTrapsForGood(const std::string& status_file) {
  constexpr int kLooks = 10;
  constexpr timespec kMoment = {0, 1'000'000};
  for (int i = 0; i < kLooks; ++i) {
    if (i != 0) nanosleep(&kMoment, nullptr);
    if (!BlocksTraps(BlockedSignals(status_file))) return false;
  }
  return true;
}

// Handlers of the program; jtrace's own call nothing that may be hooked, and rely on that.
std::vector<std::string> HandlersThatBlockTraps() {
  std::vector<std::string> names;
  Dl_info own = {};
  dladdr(reinterpret_cast<const void*>(&WhatBlocksTraps), &own);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    if (signal == SIGTRAP || sigaction(signal, nullptr, &action) != 0) continue;
    const bool is_handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (!is_handled || sigismember(&action.sa_mask, SIGTRAP) == 0) continue;
    Dl_info object = {};
    dladdr(reinterpret_cast<const void*>(action.sa_handler), &object);
    if (object.dli_fbase == own.dli_fbase) continue;
    names.push_back(absl::StrCat(
        "the handler of ", SignalName(signal),
        object.dli_fname != nullptr ? absl::StrCat(" in ", Basename(object.dli_fname)) : ""));
  }
  return names;
}

std::string FirstLine(const std::string& file) {
  std::ifstream lines(file);
  std::string line;
  std::getline(lines, line);
  return line;
}

}  // namespace

absl::Status KeepHandler() {
  switch (TakeFront()) {
    case Front::kOurs:
      return absl::OkStatus();
    case Front::kNoRoom:
      return absl::FailedPreconditionError(
          "the program has had too many different actions for SIGTRAP, which hooks use");
    case Front::kFailed:
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

std::vector<std::string> WhatBlocksTraps() {
#ifdef __SANITIZE_THREAD__
  return {};  // its runtime blocks all signals in every handler
#endif
  std::vector<std::string> names = HandlersThatBlockTraps();
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return names;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const std::string task = absl::StrCat("/proc/self/task/", entry->d_name);
    if (!BlocksTrapsForGood(task + "/status")) continue;
    names.push_back(absl::StrCat("thread '", FirstLine(task + "/comm"), "'"));
  }
  closedir(tasks);
  return names;
}

}  // namespace jtrace::native_hooks
