// A thread's counts at hooks in native code: its handler of SIGTRAP adds, the writer reads them.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal_safe/patch_sites.h"

namespace jtrace::native_hooks {

// A caller, and the node of its calls in the call tree.
struct HookCaller {
  // Only the last jumps are kept if there are more.
  static constexpr uint32_t kMaxJumps = 3;

  uint64_t node;           // the thread's tree node (Position); valid if position_known
  uint64_t java_tid;       // 0: none
  uintptr_t address;       // the return address; 0: unknown
  uint32_t thread_number;  // Thread.id; 0: a thread that is not sampled
  uint32_t placement;      // SiteBinding.placement
  // The placements of the hooks in functions that led to this call by jumps, the outermost first;
  // 0: none. `address` is the return address of the first of them.
  uint32_t jumped[kMaxJumps];
  bool position_known;

  bool operator==(const HookCaller&) const = default;
};

// The calls from one caller.
struct HookRow {
  HookCaller caller;
  uint64_t calls;
  uint64_t timed;  // calls whose return was seen
  uint64_t total_ns;
  uint64_t min_ns;
  uint64_t max_ns;
};

// Rows by caller, in the order of their first call.
struct HookRows {
  static constexpr uint32_t kMaxRows = 2048;
  // The last rows count by hook alone, for callers that find no room.
  static constexpr uint32_t kReserved = 128;
  static constexpr uint32_t kIndexSlots = 2 * kMaxRows;

  std::atomic<uint32_t> count;  // written by the rows' owner; others test it for 0
  uint16_t index[kIndexSlots];  // row + 1; 0: free
  HookRow rows[kMaxRows];

  // Returns the caller's row, made if needed. Null: there is no room at all.
  HookRow* Row(const HookCaller& caller);
  // Empties the rows in use.
  void Clear();

 private:
  HookRow* Find(const HookCaller& caller, uint32_t most);
};

// A call whose return is awaited.
struct OpenHookCall {
  HookCaller caller;
  const signal_safe::PatchSite* site;
  uintptr_t sp;  // the address of the return address
  uint64_t start_ns;
};

// The state of one thread, valid if all zero; the array of them is never unmapped.
//
// The thread raises `busy`, then loads `active` and writes rows[active]. The writer changes
// `active`, and owns the other rows once it has then seen `busy` down. These accesses are
// sequentially consistent: either the thread sees the new `active`, or the writer sees `busy`.
struct alignas(64) HookThread {
  static constexpr uint32_t kMaxOpen = 256;

  std::atomic<int32_t> os_tid;  // 0: free
  std::atomic<uint32_t> busy;
  std::atomic<uint32_t> active;  // 0 or 1
  // Writer: rows[1 - active] are not fetched yet.
  bool is_pending;
  // A return address that has no site yet: the writer makes one. 0: none.
  std::atomic<uintptr_t> wanted_return;
  // Hits while no slot of samples was known: decides when one is searched for again.
  uint32_t hits_without_slot;
  uint32_t open_count;
  OpenHookCall open[kMaxOpen];
  HookRows rows[2];
};

// Return addresses at which no site is allowed, by their hash (UntimedReturn): handlers request
// them no more. Of two with the same hash the later stays. Written under Hooks' mutex.
inline constexpr uint32_t kUntimedReturns = 1024;
extern constinit std::atomic<uintptr_t> untimed_returns[kUntimedReturns];
inline std::atomic<uintptr_t>& UntimedReturn(uintptr_t address) {
  return untimed_returns[signal_safe::PatchSites::Hash(address) % kUntimedReturns];
}

inline constexpr uint32_t kMaxHookThreads = 8192;
extern constinit std::atomic<HookThread*> hook_threads;    // kMaxHookThreads; null: no hooks yet
extern constinit std::atomic<uint32_t> hook_threads_used;  // may exceed kMaxHookThreads
extern constinit std::atomic<int32_t> free_hook_threads;   // of these, with os_tid 0
// The calling thread's; null: none yet. A child of fork keeps its copy.
extern constinit thread_local HookThread* tls_hook_thread
    __attribute__((tls_model("initial-exec")));

}  // namespace jtrace::native_hooks
