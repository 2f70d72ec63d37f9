// A set of addresses that handlers query: the application's methods, code of a kind.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// Open addressing, never more than half full, so that a search ends. Addresses are only added, by
// one thread at a time; readers see each of them some time later. A full table is replaced by a
// larger one and stays unchanged: handlers may still hold it (agent/jvm/app_scope).
struct AddressTable {
  uint32_t mask;                  // slots - 1; a power of two of slots
  std::atomic<uintptr_t>* slots;  // 0: free

  static uint32_t Hash(uintptr_t address) {
    return static_cast<uint32_t>((address * 0x9e3779b97f4a7c15) >> 32);
  }

  // Async-signal-safe.
  bool Contains(uintptr_t address) const {
    for (uint32_t i = Hash(address);; ++i) {
      const uintptr_t slot = slots[i & mask].load(std::memory_order_relaxed);
      if (slot == address) return true;
      if (slot == 0) return false;
    }
  }
};

}  // namespace jtrace::signal_safe
