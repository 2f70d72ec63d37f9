// The counters of blocks (blocks=on, blocks=paths) that are not in tree nodes: those of threads,
// and those that threads share. Probes write them (JTraceBlocks.java, JTracePaths.java); the writer
// thread reads them at any time (agent/calls/trees/basic_block_counters.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace jtrace::signal_safe {

// blocks=on: a thread's own counters of blocks. Ids too big for them, virtual threads and threads
// without memory use SharedBlocks, where counts are added atomically. Id 0 counts nothing.
inline constexpr uint32_t kBlockIds = 1u << 18;
struct OwnBlocks {
  uint64_t counts[kBlockIds];
};
static_assert(sizeof(OwnBlocks) == 2097152);

inline constexpr uint32_t kSharedBlockIds = 1u << 24;
struct SharedBlocks {
  // For sets of own counters (OwnBlocks), which are numbered from `counts` on.
  uint64_t next;       // number of the first one that was never used
  uint64_t limit;      // number after the last one
  uint64_t free;       // pops << 32 | number of a recycled one, whose counts[0] has the next one's
  uint64_t recording;  // blocks=paths: the first id of this recording
  uint64_t out_of_memory;  // blocks=paths: call paths for whose counters there was no memory
  uint64_t reserved[3];
  uint64_t counts[kSharedBlockIds];
};
static_assert(offsetof(SharedBlocks, counts) == 64);
static_assert(sizeof(SharedBlocks::counts) % sizeof(OwnBlocks) == 0);

// blocks=paths: the word for a counter's id that says what it belongs to. 0: nothing.
struct BlockOwner {
  static constexpr uint64_t Pack(uint32_t routine, bool is_leaf, uint32_t size, uint32_t index) {
    return uint64_t{routine} << 33 | uint64_t{is_leaf} << 32 | uint64_t{size} << 16 | index;
  }
  static constexpr uint32_t kMaxSize = 0xFFFF;  // counters of one method
};

}  // namespace jtrace::signal_safe
