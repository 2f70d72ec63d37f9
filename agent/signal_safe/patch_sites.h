// The places of our int3 instructions in native code (S3.9, FIG. 31), as the handler of SIGTRAP
// looks them up: address -> out-of-line copy of the displaced instruction, and what to do there.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// The actions when a thread reaches a site, as a set of bits. 0: it just continues.
enum HookUse : uint32_t {
  kHookCount = 1,   // the call is counted
  kHookUnwind = 2,  // and its stack walked (0x41)
  kHookTime = 4,    // and its return awaited
  kHookReturn = 8,  // calls return here
  kHookEntry = 16,  // a function's first instruction: the return address is at rsp
  kHookEnd = 32,    // the JVM begins to report an error: every int3 is removed (DisableAllHooks)
};

// The present use of a site, and its start: both at once, so that every call is counted for the
// hook that it ran into.
struct HookDuty {
  uint32_t use = 0;        // HookUse
  uint32_t placement = 0;  // of use kHookCount: the hook's, from 1 on, never twice in a process
};
static_assert(std::atomic<HookDuty>::is_always_lock_free);

// A site stays forever: a thread may have executed its int3 just before that was taken out. Written
// by cold code (agent/native_hooks) before the int3 is.
struct PatchSite {
  uintptr_t address;
  uint32_t number;  // from 1 on
  uint8_t byte;     // that the int3 replaces
  // The displaced instruction's copy; from `done` on its work is done, as at `after`
  // (DisplacedInstruction).
  uintptr_t slot;
  uint32_t done;
  uintptr_t after;
  std::atomic<HookDuty> duty;
  // For use kHookCount: calls so far, exact; the number of them that are in no thread's table.
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> unattributed;
};

// Open addressing, at most half full.
struct PatchSites {
  static constexpr uint32_t kSlots = 1 << 15;
  static constexpr uint32_t kMaxSites = kSlots / 2;

  std::atomic<PatchSite*> slots[kSlots];

  static uint32_t Hash(uintptr_t address) {
    return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15) >> 32);
  }

  // Null: none is there. Async-signal-safe.
  PatchSite* Find(uintptr_t address) const {
    for (uint32_t i = Hash(address);; ++i) {
      PatchSite* const site = slots[i % kSlots].load(std::memory_order_acquire);
      if (site == nullptr || site->address == address) return site;
    }
  }
};

// Null until the first hook of the process.
extern constinit std::atomic<PatchSites*> patch_sites;

// Takes every int3 out of the program's code, permanently: code that runs from here on may have
// another handler for them. Where /proc/self/mem cannot be written they stay. Async-signal-safe.
void DisableAllHooks();

// Code of slots is in pages of this size, kHookSlotBytes each.
inline constexpr uintptr_t kHookSlotBytes = 64;
inline constexpr uintptr_t kHookPageBytes = 4096;
inline constexpr uint32_t kSlotsOfPage = kHookPageBytes / kHookSlotBytes;

// Pages are never unmapped.
struct HookPage {
  std::atomic<uintptr_t> begin;  // 0: none
  std::atomic<PatchSite*> sites[kSlotsOfPage];
};
inline constexpr uint32_t kMaxHookPages = PatchSites::kMaxSites / kSlotsOfPage * 2;
extern constinit std::atomic<HookPage*> hook_pages;      // kMaxHookPages of them
extern constinit std::atomic<uint32_t> hook_page_count;  // in use
// All pages are in [low, high).
extern constinit std::atomic<uintptr_t> hook_pages_low;
extern constinit std::atomic<uintptr_t> hook_pages_high;

// The place in the program that a thread in a slot represents; else `pc` itself. Async-signal-safe.
uintptr_t OriginalPc(uintptr_t pc);

}  // namespace jtrace::signal_safe
