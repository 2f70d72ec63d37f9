// Reads of the JVM's own variables, at addresses that its tables give.
//
// For cold code on any thread; a system call each. Handlers read through hot/memory/safe_read.h.
#pragma once

#include <cstdint>

#include "agent/hotspot/checked_read.h"

namespace jtrace::sampling {

// T{} if it cannot be read: for chains of pointers, where 0 fails the next step anyway.
template <typename T>
T Load(uintptr_t address) {
  T value{};
  return CheckedCopy(address, &value, sizeof value) ? value : T{};
}

}  // namespace jtrace::sampling
