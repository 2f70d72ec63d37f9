#include "agent/native_hooks/hook_thread.h"

#include <cstring>

namespace jtrace::native_hooks {

constinit std::atomic<uintptr_t> untimed_returns[kUntimedReturns] = {};
constinit std::atomic<HookThread*> hook_threads{nullptr};
constinit std::atomic<uint32_t> hook_threads_used{0};
constinit std::atomic<int32_t> free_hook_threads{0};
constinit thread_local HookThread* tls_hook_thread = nullptr;

namespace {

uint32_t HashOf(const HookCaller& caller) {
  uint64_t hash = caller.node ^ caller.address * 31 ^ uint64_t { caller.placement } << 40 ^
                  caller.java_tid << 20 ^ uint64_t { caller.jumped[0] } << 8;
  hash *= 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

HookRow* HookRows::Find(const HookCaller& caller, uint32_t most) {
  uint32_t i = HashOf(caller);
  for (;; ++i) {
    const uint16_t at = index[i % kIndexSlots];
    if (at == 0) break;
    if (rows[at - 1].caller == caller) return &rows[at - 1];
  }
  const uint32_t used = count.load(std::memory_order_relaxed);
  if (used >= most) return nullptr;
  HookRow& row = rows[used];
  row.caller = caller;
  row.calls = row.timed = row.total_ns = row.max_ns = 0;
  row.min_ns = UINT64_MAX;
  index[i % kIndexSlots] = static_cast<uint16_t>(used + 1);
  count.store(used + 1, std::memory_order_relaxed);
  return &row;
}

HookRow* HookRows::Row(const HookCaller& caller) {
  if (HookRow* row = Find(caller, kMaxRows - kReserved); row != nullptr) return row;
  HookCaller hook_only = {};
  hook_only.placement = caller.placement;
  hook_only.thread_number = caller.thread_number;
  return Find(hook_only, kMaxRows);
}

void HookRows::Clear() {
  if (count.load(std::memory_order_relaxed) == 0) return;
  std::memset(index, 0, sizeof index);
  count.store(0, std::memory_order_relaxed);
}

}  // namespace jtrace::native_hooks
