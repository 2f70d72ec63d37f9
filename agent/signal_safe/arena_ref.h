// References to objects in the arena (arena.h), the memory that the probes write. A reference is
// the offset from the arena's start in granules of 64 bytes: 32 bits reach 256 GB, and a node's
// reference is unique in the process. Async-signal-safe, any thread.
#pragma once

#include <cstdint>

namespace jtrace::signal_safe {

struct Arena;

// A reference into the arena; 0: none.
using Ref = uint32_t;

inline constexpr int kGranuleShift = 6;

// Returns the object at `ref`, which must not be 0.
template <typename T>
T* At(const Arena* arena, Ref ref) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(arena) +
                              (uint64_t{ref} << kGranuleShift));
}
inline Ref RefOf(const Arena* arena, const void* object) {
  return static_cast<Ref>(
      (reinterpret_cast<uintptr_t>(object) - reinterpret_cast<uintptr_t>(arena)) >> kGranuleShift);
}

}  // namespace jtrace::signal_safe
