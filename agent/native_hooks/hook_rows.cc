#include "agent/native_hooks/hook_rows.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>

namespace jtrace::native_hooks {
namespace {

std::span<HookThread> Threads() {
  HookThread* const threads = hook_threads.load(std::memory_order_acquire);
  if (threads == nullptr) return {};
  return {threads, std::min(hook_threads_used.load(), kMostHookThreads)};
}

bool IsEmpty(const HookRows& rows) { return rows.count.load(std::memory_order_relaxed) == 0; }

// The writer gets the rows that the thread has written when the thread is outside of its handler;
// false: it is inside.
bool Turn(HookThread& thread) {
  if (!thread.is_pending) {
    thread.active.store(1 - thread.active.load(), std::memory_order_seq_cst);
    thread.is_pending = true;
  }
  return thread.busy.load(std::memory_order_seq_cst) == 0;
}

void TakeRows(HookThread& thread, absl::FunctionRef<void(const HookRow&)> take) {
  HookRows& rows = thread.rows[1 - thread.active.load()];
  const uint32_t count = rows.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) take(rows.rows[i]);
  rows.Clear();
  thread.is_pending = false;
}

bool HasEnded(const HookThread& thread) {
  return syscall(SYS_tgkill, getpid(), thread.os_tid.load(), 0) != 0 && errno == ESRCH;
}

}  // namespace

void HookRowReader::Drain(absl::FunctionRef<void(const HookRow&)> take) {
  has_left_ = false;
  for (HookThread& thread : Threads()) {
    // First the rows that an earlier call had to leave, then those counted since.
    for (int i = 0; i < 2; ++i) {
      if (!thread.is_pending && IsEmpty(thread.rows[thread.active.load()])) break;
      if (!Turn(thread)) {
        has_left_ = true;
        break;
      }
      TakeRows(thread, take);
    }
  }
}

void HookRowReader::TakeWantedReturns(absl::FunctionRef<void(uintptr_t)> take) {
  for (HookThread& thread : Threads()) {
    if (thread.wanted_return.load(std::memory_order_relaxed) == 0) continue;
    if (const uintptr_t address = thread.wanted_return.exchange(0); address != 0) take(address);
  }
}

void HookRowReader::Recycle() {
  for (HookThread& thread : Threads()) {
    if (thread.os_tid.load() == 0 || thread.is_pending || !HasEnded(thread)) continue;
    if (!IsEmpty(thread.rows[thread.active.load()])) continue;  // Drain comes first
    thread.open_count = 0;
    thread.hits_without_slot = 0;
    thread.wanted_return.store(0);
    thread.os_tid.store(0);
    free_hook_threads.fetch_add(1);
  }
}

}  // namespace jtrace::native_hooks
