// The probes' data of one thread, and how to find it from the thread's id. The layout is that of
// JTraceLayout.java.
//
// Each thread (virtual ones too) has its own state and tree, which only that thread writes; fields
// marked "collector" belong to the writer thread (agent/calls/trees/tree_collector.h). The writer
// thread and signal handlers read a state at any time by the functions of atomic_access.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::signal_safe {

// Nodes that the writer thread requests the owning thread to cut off. The memory is
// calls::TreePruner's, unchanged until the thread sets ThreadState::victims back to 0.
struct Victims {
  uint32_t folding_nodes;  // ThreadState::folding_nodes + cuts_made before they were chosen
  uint32_t count;
  Ref nodes[1];  // `count` of them
};
static_assert(offsetof(Victims, nodes) == 8);

// Follows a thread's root: the thread's metrics when they were last charged to a node.
struct ThreadMetrics {
  uint64_t charged[kMaxPathMetrics];
  uint64_t reserved;
};
static_assert(sizeof(ThreadMetrics) == 64);

// The probes' data of one thread.
struct ThreadState {
  uint64_t current;      // address of the current node
  uint64_t java_tid;     // Thread.threadId(); never changes
  Ref next;              // next state of the same bucket
  uint32_t ended;        // 1: the thread has ended (NotifyThreadEnded)
  Ref root;              // directly after the state
  Ref last;              // newest node
  Ref chunks;            // all memory of the thread, this state included: a list
  int32_t chunk_class;   // of the newest chunk; -1: the first one of a virtual thread
  uint64_t bump;         // address of the free part of the newest chunk
  uint64_t limit;        // its end
  uint32_t is_virtual;   // 1: a virtual thread
  uint32_t group;        // collector: 0: not decided yet (TreeCollector)
  Ref ended_next;        // next state in Arena::ended
  uint32_t misses;       // calls whose child was not in its own slot
  uint64_t chunk_bytes;  // of all its chunks
  uint64_t last_probe;   // with a clock: when the last probe ran
  // clock=cpu: the thread had used cpu_sync nanoseconds of processor time at cpu_sync_ticks, and
  // has been on a processor from then to last_probe. `rseq`: address of the thread's rseq_cs word
  // (in struct rseq), or of Arena::always_on.
  uint64_t cpu_sync;
  uint64_t cpu_sync_ticks;
  uint64_t rseq;
  // record=log (log_ring.h): addresses of the next record and of the end of the room.
  uint64_t log_next;
  uint64_t log_ring;  // of the LogRing that is written, which leads to the one read; 0: none
  // The address of the innermost node that was open during the whole gap of the log; 0: the log has
  // no gap; 1: the log has ended.
  uint64_t log_gap;
  // The first member with record=log, the other one without.
  union {
    uint64_t log_limit;
    uint64_t small_slots;  // no log: address of the free words in the granule for slots of less
                           // than a granule; the granule's start: none are free
  };
  union {
    uint64_t log_read;  // address of the ring that is read; the thread writes the first one's
    uint64_t small_slots_free;  // no log: free blocks of 8 bytes, the next ones of 16 and 32;
                                // linked by their first words, which have bit 0 set
  };
  union {
    uint64_t log_moving;  // 1: a probe changes log and position; an exception may have cut it off
    uint64_t small_slots_free_16;
  };
  union {
    uint64_t log_dropped;  // calls of this gap
    uint64_t small_slots_free_32;
  };
  union {
    uint64_t log_time;    // clock=coarse: the time of the last record
    uint64_t call_start;  // no log: a timed call out of scope runs since then; 0: none
  };
  // For bounded memory.
  uint64_t victims;  // address of Victims; set by the collector, back to 0 by the thread
  Ref pool;          // free nodes, linked by `next`
  Ref freed;         // free nodes that the collector has returned: the thread takes them all
  Ref dropped;       // outgrown tables, linked by ChildTable::count: the collector takes them all
  Ref pruned;        // the root's [pruned] node; 0: not made yet. Stored with release
  uint32_t position_is_pruned;  // 1: current may be in a [pruned] node far above open activations
  uint32_t
      folding_nodes;  // how many nodes have kNodeFolds, in which deep calls are folded; release
  // Metrics by call path.
  uint64_t counters;  // address of the thread's MetricCounts
  uint64_t metrics;   // address of its ThreadMetrics
  uint64_t changes;   // MetricCounts::changes when the counted metrics were last charged
  uint64_t blocks;    // blocks=on: address of its OwnBlocks, or of SharedBlocks::counts
  // pruneexit=: how many nodes the thread may still cut off, which the collector writes too; how
  // many it has cut off, stored with release; with clock=cpu, its time off the processors so far.
  uint32_t cuts_left;
  uint32_t cuts_made;
  uint64_t off;
};
static_assert(offsetof(ThreadState, counters) == 208 && offsetof(ThreadState, changes) == 224);
static_assert(sizeof(ThreadState) == 256 && offsetof(ThreadState, bump) == 40);
static_assert(offsetof(ThreadState, is_virtual) == 56 && offsetof(ThreadState, chunk_bytes) == 72);
static_assert(offsetof(ThreadState, last_probe) == 80 && offsetof(ThreadState, log_next) == 112);
static_assert(offsetof(ThreadState, small_slots_free_32) ==
              offsetof(ThreadState, small_slots_free) + 16);

// Whether the thread has a log or is in a gap of one: then its tree has no times.
inline bool HasLog(const ThreadState& state) {
  return ReadRelaxed(state.log_ring) != 0 || ReadRelaxed(state.log_gap) != 0;
}

// The arena of the installed probes; null: none. Never unmapped once published.
extern constinit std::atomic<Arena*> published_arena;

// Returns the state of the thread, or null if it entered no probed method yet. Repeats a search
// that may have read an ended thread's reused memory (StateRecycler). Async-signal-safe.
ThreadState* FindThreadState(const Arena* arena, uint64_t java_tid);

// Notifies the collector that the thread runs no more Java code: it reports the tree once more and
// then reuses its memory. On the ending thread (JVMTI ThreadEnd, VirtualThreadEnd).
void NotifyThreadEnded(Arena* arena, uint64_t java_tid);

}  // namespace jtrace::signal_safe
