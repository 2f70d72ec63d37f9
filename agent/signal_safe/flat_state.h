// record=flat: the counters of a thread's calls by routine. Probes write them (JTraceFlat.java);
// the writer thread reads them at any time (agent/calls/trees/flat_collector.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/signal_safe/block_counts.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::signal_safe {

// record=flat: a thread's state is followed by one pair per routine id; ids too big for it and
// virtual threads use `Arena::shared`, where counts are added atomically.
struct FlatCounter {
  uint64_t interpreted;
  uint64_t jitted;
};
inline constexpr uint32_t kFlatIds = 1u << 18;

struct FlatState {
  ThreadState state;
  FlatCounter counters[kFlatIds];
  OwnBlocks blocks;
};
static_assert(offsetof(FlatState, counters) == 256 && offsetof(FlatState, blocks) == 4194560);

}  // namespace jtrace::signal_safe
