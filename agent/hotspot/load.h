// Reads of the JVM's own variables, at addresses that its tables give.
//
// For cold code on any thread. The address must be readable; handlers read through
// hot/memory/safe_read.h.
#pragma once

#include <cstdint>

namespace jtrace::sampling {

template <typename T>
T Load(uintptr_t address) {
  return *reinterpret_cast<const T*>(address);
}

}  // namespace jtrace::sampling
