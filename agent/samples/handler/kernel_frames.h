// The kernel's part of a stack, which the kernel itself writes for a perf event.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"

namespace jtrace::samples {

// One page of head, one of records (perf_event_open(2), "MMAP layout"): a record has at most 127
// addresses, and the event stops after each, or after the few that come until its signal is handled
// (event_stop.h).
inline constexpr uint64_t kKernelRingBytes = 4096;

// Pushes at most `limit` kernel addresses of the newest record in the ring of a perf event with
// sample_type PERF_SAMPLE_CALLCHAIN, the innermost first, and empties the ring. Nothing if the
// thread was not in the kernel. Plain memory only: async-signal-safe.
void PushKernelFrames(void* ring, uint32_t limit, Chain& chain);

}  // namespace jtrace::samples
