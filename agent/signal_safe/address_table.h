// A set of addresses that signal handlers query, for example the application's methods.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// Open addressing, never more than half full, so that a search ends. One thread at a time adds
// addresses or clears all slots (jvm::AddressSet); handlers may see the change late. A full table
// is replaced by a larger one and not freed, because handlers may still read it.
struct AddressTable {
  uint32_t mask;                  // the number of slots - 1; that number is a power of two
  std::atomic<uintptr_t>* slots;  // 0: free

  static uint32_t Hash(uintptr_t address) {
    return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15) >> 32);
  }

  // Whether `address` is in the set; 0 never is. Async-signal-safe.
  bool Contains(uintptr_t address) const {
    for (uint32_t i = Hash(address);; ++i) {
      const uintptr_t slot = slots[i & mask].load(std::memory_order_relaxed);
      if (slot == 0) return false;
      if (slot == address) return true;
    }
  }
};

}  // namespace jtrace::signal_safe
