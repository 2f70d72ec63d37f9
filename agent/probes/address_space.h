#ifndef JTRACE_AGENT_PROBES_ADDRESS_SPACE_H_
#define JTRACE_AGENT_PROBES_ADDRESS_SPACE_H_

#include <cstdint>

namespace jtrace {

// Bytes of address space that the process may still map: RLIMIT_AS (ulimit -v) less the mapped
// part; UINT64_MAX without a limit. Any thread.
uint64_t AddressSpaceLeft();

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_ADDRESS_SPACE_H_
