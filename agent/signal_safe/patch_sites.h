// The int3 instructions of native hooks (S3.9), as the handler of SIGTRAP looks them up: it finds
// by address the copy of the instruction that the int3 displaced, and what to do there.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// The actions when a thread reaches a site, as a set of bits. 0: none, it just continues.
enum HookActions : uint32_t {
  kHookCount = 1,   // the call is counted
  kHookUnwind = 2,  // the stack is walked (event 0x41)
  kHookTime = 4,    // the call is timed: its return is awaited
  kHookReturn = 8,  // timed calls return here
  kHookEntry = 16,  // a function's first instruction: the return address is at rsp
  kHookRemoveAll =
      32,  // the JVM begins to report an error: every int3 is removed (DisableAllHooks)
};

// A site's actions, and the placement of the hook that requested them. One store changes both, so
// each call is counted for the hook that it met.
struct SiteBinding {
  uint32_t actions = 0;    // HookActions
  uint32_t placement = 0;  // with kHookCount: the hook's placement, from 1 on, unique in a process
};
static_assert(std::atomic<SiteBinding>::is_always_lock_free);

// A site is never freed: a thread may have executed its int3 just before that was taken out.
// Ordinary code (agent/native_hooks) fills it in before it writes the int3.
struct PatchSite {
  uintptr_t address;
  uint32_t number;  // from 1 on
  uint8_t byte;     // the byte of code that the int3 replaces
  // The address of the displaced instruction's copy. From offset `done` on its work is done: the
  // thread is as if at `after` in the program (native_hooks::DisplacedInstruction).
  uintptr_t slot;
  uint32_t done;
  uintptr_t after;
  std::atomic<SiteBinding> binding;
  // With kHookCount: calls so far, exact; how many of them are in no thread's table.
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> unattributed;
};

// All sites by address: open addressing, at most half full, so that a search ends.
struct PatchSites {
  static constexpr uint32_t kSlots = 1 << 15;
  static constexpr uint32_t kMaxSites = kSlots / 2;

  std::atomic<PatchSite*> slots[kSlots];

  static uint32_t Hash(uintptr_t address) {
    return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15) >> 32);
  }

  // Returns null if no site is at `address`. Async-signal-safe.
  PatchSite* Find(uintptr_t address) const {
    for (uint32_t i = Hash(address);; ++i) {
      PatchSite* const site = slots[i % kSlots].load(std::memory_order_acquire);
      if (site == nullptr || site->address == address) return site;
    }
  }
};

// Null until the first hook of the process.
extern constinit std::atomic<PatchSites*> patch_sites;

// Takes every int3 out of the program's code for good, because another handler may get its trap
// from now on. If /proc/self/mem cannot be written, they stay. Async-signal-safe.
void DisableAllHooks();

// The slots, kHookSlotBytes of code each, are in pages of kHookPageBytes.
inline constexpr uintptr_t kHookSlotBytes = 64;
inline constexpr uintptr_t kHookPageBytes = 4096;
inline constexpr uint32_t kSlotsOfPage = kHookPageBytes / kHookSlotBytes;

// A page of slots, never unmapped, with the site of each slot.
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

// Returns the program's own address for a `pc` in a slot, else `pc` itself. Async-signal-safe.
uintptr_t OriginalPc(uintptr_t pc);

}  // namespace jtrace::signal_safe
