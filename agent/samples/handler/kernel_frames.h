// The kernel's part of a stack, which the kernel itself writes for a perf event.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"

namespace jtrace::samples {

// Pushes at most `limit` kernel addresses of the newest record in the ring (perf_ring.h) of a perf
// event with sample_type PERF_SAMPLE_CALLCHAIN, the innermost first, and empties the ring. Pushes
// none if the thread was not in the kernel. Plain memory only: async-signal-safe.
void PushKernelFrames(void* ring, uint32_t limit, Chain& chain);

}  // namespace jtrace::samples
