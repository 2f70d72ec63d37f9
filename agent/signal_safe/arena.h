// The memory that the probes (JTraceProbe.java) write and C++ reads: the arena, a single
// reservation of address space for the states, trees, counters and logs of all threads. The layout
// is that of JTraceLayout.java; agent/calls/trees/arena_reservation.h makes it.
//
// Its parts have headers of their own: thread_state.h, tree_node.h, flat_state.h, block_counts.h,
// log_ring.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/flat_state.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::signal_safe {

// Threads take memory in chunks of 2 KB * 4^size_class; a thread's first one also holds its state.
struct Chunk {
  Ref next;
  uint32_t size_class;
  uint64_t reserved[7];
};
static_assert(sizeof(Chunk) == 64);
inline constexpr int kChunkClasses = 8;
inline constexpr uint64_t ChunkBytes(uint32_t size_class) { return 2048ull << (2 * size_class); }
// The class of the chunk with a FlatState.
inline constexpr uint32_t kFlatClass = 6;
static_assert(sizeof(Chunk) + sizeof(FlatState) <= ChunkBytes(kFlatClass));

inline constexpr uint32_t kBucketCount = 16384;

// The arena's start. New chunks are taken from `next` on.
struct Arena {
  ThreadState sink_state;        // of threads that got no state; current is sink_node
  uint64_t next;                 // offset in bytes of the unused part
  uint64_t limit;                // offset in bytes of the end
  uint64_t ended;                // Ref of the newest ended state not taken yet: a list
  uint64_t frees;                // how often memory of states or nodes was released
  uint64_t reserve_limit;        // like limit, for [pruned] nodes and their children
  uint32_t max_depth;            // of nodes; deeper calls are folded
  uint32_t lost;                 // 1: calls found no memory for a state: `shared` has counted them
  uint64_t state_limit;          // like limit, for states and memory of roots' [pruned] nodes
  uint64_t recording_start;      // CLOCK_MONOTONIC, nanoseconds
  uint64_t free[kChunkClasses];  // recycled chunks by class: pops << 32 | Ref
  Node sink_node;                // current node of calls without a node; counts nothing
  NodeTimes sink_times;
  NodeMetrics sink_metrics;  // with a clock or without, directly after the field before it
  NodeBlocks sink_blocks;    // directly after sink_metrics; always empty
  uint64_t no_slot;          // the one word, free, of `slots` in nodes without children
  uint64_t tombstone;        // slots have its address where a child was
  uint32_t counts;           // probes=resting: 1: a recording runs, so the probes count
  uint32_t reserved_5;
  uint64_t reserved_4[21];
  uint64_t tick;  // clock=coarse: nanoseconds of CLOCK_MONOTONIC, written by CoarseClockThread
  uint64_t log_stopped;  // record=log: 1: no more records, the trees count the rest
  uint64_t log_waits;    // FullLogPolicy (log_ring.h): what threads do whose rings are full
  uint64_t log_waited;   // nanoseconds that threads have waited; many add to it, atomically
  RseqDescriptor rseq;
  uint64_t always_on;  // address of `rseq`: virtual threads have this for an rseq_cs word
  // The metrics and counters of sink_state: many threads write them, nobody reads them.
  ThreadMetrics sink_charged;
  uint64_t sink_counters[48];  // a MetricCounts that counts nothing
  // record=log, bytes. log_most: the limit of each of the next two. log_large: chunks for rings of
  // the largest size, used or free. log_small: chunks of all smaller rings.
  uint64_t log_most;
  uint64_t log_large;
  uint64_t log_small;
  // By index in NodeMetrics: what all threads were charged with, for metrics of which nodes also
  // keep that (elapsed.NAME, metric_counts.h). Many threads add to it, atomically.
  uint64_t elapsed[kMaxPathMetrics];
  uint64_t reserved_3[321];
  Ref buckets[kBucketCount];       // states by java_tid % kBucketCount
  uint8_t compiled[kMaxRoutines];  // 1: the routine has compiled code of any tier
  FlatState shared;                // its counters continue to kMaxRoutines
};
static_assert(offsetof(Arena, state_limit) == 304);
static_assert(offsetof(Arena, free) == 320 && offsetof(Arena, sink_node) == 384);
static_assert(offsetof(Arena, buckets) == 4096 && offsetof(Arena, compiled) == 69632);
static_assert(offsetof(Arena, tick) == 896 && offsetof(Arena, rseq) == 928);
static_assert(offsetof(Arena, sink_counters) == 1064 && offsetof(Arena, log_most) == 1448);
static_assert(offsetof(Arena, elapsed) == 1472);
static_assert(offsetof(Arena, always_on) == 992 && offsetof(Arena, shared) == 33624064);

// Offset of the first chunk: after the shared counters, on a page of 2 MB.
inline constexpr uint64_t kFirstChunk = ((offsetof(Arena, shared) + offsetof(FlatState, counters) +
                                          uint64_t{kMaxRoutines} * sizeof(FlatCounter)) |
                                         0x1FFFFF) +
                                        1;

}  // namespace jtrace::signal_safe
