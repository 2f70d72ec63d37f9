// Structures of jtrace.h that grow: the caller says how much of one it knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace jtrace::abi {

// Copies what the caller has room for; what only the caller knows becomes 0. False: `into` has not
// said its size, or less than the first version had. Async-signal-safe.
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
