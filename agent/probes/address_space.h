// The address space that a limit (ulimit -v) leaves to the process.
#pragma once

#include <cstdint>

namespace jtrace {

// Bytes of address space that the process may still map: RLIMIT_AS (ulimit -v) less the mapped
// part; UINT64_MAX without a limit. Any thread.
uint64_t AddressSpaceLeft();

}  // namespace jtrace
