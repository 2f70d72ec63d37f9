// The kernel's part of a stack, which the kernel itself writes for a perf event.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"

namespace jtrace::samples {

// Bytes of records in the ring, which follow a page of head (perf_event_open(2), "MMAP layout"). A
// record has at most 127 addresses, and the event stops after each, or after the few that come
// until its signal is handled (event_stop.h).
inline constexpr uint64_t kKernelRingBytes = 4096;

// Pushes at most `limit` kernel addresses of the newest record in the ring of a perf event with
// sample_type PERF_SAMPLE_CALLCHAIN, the innermost first, and empties the ring. Pushes
// none if the thread was not in the kernel. Plain memory only: async-signal-safe.
void PushKernelFrames(void* ring, uint32_t limit, Chain& chain);

}  // namespace jtrace::samples
