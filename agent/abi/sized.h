// Structures of jtrace.h that grow: the caller says how much of one it knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace jtrace::abi {

// Copies the part that the caller has room for; fields that only the caller knows become 0. False:
// `into` does not say its size, or says less than the first version had. Async-signal-safe.
template <typename Struct>
bool CopySized(const Struct& from, Struct* into) {
  const uint32_t size = into->struct_size;
  if (size < sizeof(Struct)) return false;
  std::memset(static_cast<void*>(into), 0, size);
  std::memcpy(static_cast<void*>(into), &from, sizeof(Struct));
  into->struct_size = size;
  return true;
}

}  // namespace jtrace::abi
