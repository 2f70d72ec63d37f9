// The memory that the probes (JTraceProbe.java) write and C++ reads: calling-context trees.
//
// It is one arena, a single reservation of address space. A reference (Ref) to anything in it is
// the offset from its start in granules of 64 bytes: 32 bits reach 256 GB, and a node's Ref is
// unique in the process. Each thread (virtual ones too) has its own state and tree, which only that
// thread writes. The writer thread (agent/calls/trees/tree_collector.h) and signal handlers read
// them at any time, so they use only ReadRelaxed and ReadAcquire for data that the thread changes.
// Fields marked "collector" belong to the writer thread; the probes never touch them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jtrace::signal_safe {

// A reference into the arena; 0: none.
using Ref = uint32_t;

inline constexpr int kGranuleShift = 6;
// Routine ids (pushed by rewritten methods) are 1 … kMaxRoutines - 2.
inline constexpr uint32_t kMaxRoutines = 1u << 25;
// The routine of nodes that count calls without their own node.
inline constexpr uint32_t kPrunedRoutine = kMaxRoutines - 1;

// sites=on: Node::routine has a call site above the id: `1 << 31 | number << kCallSiteShift | id`.
// The number is one of those of the caller's routine (agent/calls/classfile/call_site_finder.h), 0
// if that has too many. Ids from kCallSiteIds on have none.
inline constexpr int kCallSiteShift = 20;
inline constexpr uint32_t kCallSiteIds = 1u << kCallSiteShift;
inline constexpr uint32_t kHasCallSite = 1u << (31 - kCallSiteShift);
// Numbers are 1 … kMaxCallSites: no child's routine has all bits set.
inline constexpr uint32_t kMaxCallSites = kHasCallSite - 2;
// In an id that a probe pushes: the JVM itself may have made the call, which has no call site.
inline constexpr uint32_t kWithoutCallSite = 1u << 30;
inline constexpr uint32_t IdOf(uint32_t routine) {
  return routine >> 31 != 0 ? routine & (kCallSiteIds - 1) : routine;
}
// The number of the call site; 0: none.
inline constexpr uint32_t CallSiteNumberOf(uint32_t routine) {
  return routine >> 31 != 0 ? routine >> kCallSiteShift & (kHasCallSite - 1) : 0;
}

// A count of calls modulo 2^(8 * kBytes); differences below that are exact.
template <size_t kBytes>
class SmallCount {
 public:
  SmallCount& operator=(uint64_t count) {
    std::memcpy(bytes_, &count, sizeof bytes_);
    return *this;
  }
  // Returns how many calls `count` has more.
  uint64_t Until(uint64_t count) const {
    uint64_t low = 0;
    std::memcpy(&low, bytes_, sizeof bytes_);
    return (count - low) & ((1ull << 8 * sizeof bytes_) - 1);
  }

 private:
  uint8_t bytes_[kBytes];
};
// 2^40 calls of 1 ns take 18 minutes, 2^48 three days.
using Count40 = SmallCount<5>;
using Count48 = SmallCount<6>;

// A node of a calling-context tree: one call path. One cache line, because there are tens of
// millions. `slots` is the address of a power of two of words, each with the address of a child or,
// if it is free, that of Arena::lost_node. The low bits of a child's routine id select a word: the
// child is there or, if that was taken, in one of the next words before a free one. The largest
// number of words is followed by the Ref of a ChildTable for more children. A node without children
// has Arena::no_slot; up to four words share a granule with those of other nodes. The thread stores
// a larger `mask` after `slots`, so that a reader never takes the old words for more than they are.
struct Node {
  uint32_t routine;        // 0: a thread's root; with a call site above it: see IdOf
  Ref parent;              // 0: none
  uint64_t slots;          // address; see above
  uint64_t interpreted;    // calls that ran interpreted
  uint64_t jitted;         // calls that ran compiled
  Ref next;                // the thread's next node in order of creation, stored with release
  uint32_t number;         // collector: number in the trace, or among the groups' nodes
  Count48 baseline_calls;  // collector: calls of which earlier files, or the group's tree, know
  uint16_t call_site;      // sites=on: kHasCallSite | number of where its calls are; 0: unknown
  uint16_t mask;           // of a child's offset in `slots`: their bytes less one word's
  uint16_t depth;          // 0: a thread's root
  uint8_t flags;           // NodeFlags, of the owning thread; kNodeCutOff is stored with release
  uint8_t collected;       // collector: what it knows of the node (calls::NodeState)
  Count40 reported;        // collector: calls as last reported
  Count40 baseline_interpreted;  // collector: as baseline_calls
};
static_assert(sizeof(Node) == 64 && offsetof(Node, call_site) == 46 && offsetof(Node, mask) == 48);
static_assert(offsetof(Node, interpreted) == 16 && offsetof(Node, jitted) == 24);

// Set in Node::mask while `slots` changes: `slots` may be newer than the rest of the mask.
inline constexpr uint16_t kMaskMoves = 1;
// Node::mask of a node with the most slots.
inline constexpr uint32_t kMaxMask = 8191 * sizeof(uint64_t);

// Node::flags.
inline constexpr uint8_t kNodeCutOff = 1;  // cut off from the tree for good
inline constexpr uint8_t kNodeOnPath = 2;  // above the current node, during a prune
inline constexpr uint8_t kNodeFolds = 4;   // calls from here are counted at a node further up

// Nodes that the writer thread requests the owning thread to cut off. The memory is
// calls::TreePruner's, unchanged until the thread sets ThreadState::victims back to 0.
struct Victims {
  uint32_t fold_ways;  // ThreadState::fold_ways + cuts_made before they were chosen
  uint32_t count;
  Ref nodes[1];  // `count` of them
};
static_assert(offsetof(Victims, nodes) == 8);

// Children of a node with the most slots: open addressing, a power of two of slots that hold
// `Ref << 32 | routine`, 0 is free.
struct ChildTable {
  uint32_t mask;
  uint32_t count;     // of slots that are not 0; of a dropped table: Ref of the next one
  uint64_t slots[1];  // mask + 1 of them
};
static_assert(offsetof(ChildTable, slots) == 8);

// Follows each node if there is a clock, in the clock's units (agent/calls/clocks/tick_scale.h).
struct NodeTimes {
  uint64_t base;           // time in this node, callees not included
  uint64_t base_start;     // `base` when the current activation began
  uint64_t least;          // kMaxTicks - the least base of an ended activation; 0: none ended
  uint64_t greatest;       // the greatest base of an ended activation
  uint64_t off;            // clock=cpu: time off the processors, callees not included
  uint64_t reported;       // collector: base + off as last reported
  uint64_t baseline_base;  // collector: known to earlier files, or the group's tree
  uint64_t baseline_off;   // collector: the same for `off`
};
static_assert(sizeof(NodeTimes) == 64);
inline constexpr uint64_t kMaxTicks = INT64_MAX;

// Follows each node, after its times, if metrics are charged to call paths (S5.2): the thread's
// count of each while it was in this node, callees not included. Counts wrap around.
inline constexpr uint32_t kPathMetrics = 7;
struct NodeMetrics {
  uint64_t base[kPathMetrics];
  uint64_t reported;                // collector: a sum that shows whether one has changed
  uint64_t baseline[kPathMetrics];  // collector: known to earlier files, or the group's tree
  uint64_t reserved;
};
static_assert(sizeof(NodeMetrics) == 128);

// The counters of a method's blocks on one call path, in a row, for one version of its code.
struct BlockSet {
  uint64_t range;   // their number << 32 | id of the first; 0: none yet. Stored last, with release
  uint64_t counts;  // address of the first
  Ref more;         // BlockSet of other code of the method: a list; stored with release
  uint32_t out_of_memory;  // in the first of the list: 1: there was no memory for a counter
};
static_assert(sizeof(BlockSet) == 24);

// Follows each node, after its times and metrics, if blocks are counted by call path
// (blocks=paths).
inline constexpr uint32_t kNodeBlocks = 4;
struct NodeBlocks {
  BlockSet set;
  uint64_t reported;          // collector: the sum of all counts as last reported
  uint64_t own[kNodeBlocks];  // the counters of `set`, if they are no more than these
};
static_assert(sizeof(NodeBlocks) == 64);

// Follows each node, after all of these, if nodes are tested when their activations end
// (pruneexit=), in the clock's units. Only the owning thread reads it (JTraceExits.java).
struct NodeCum {
  uint64_t cum;      // time of ended activations, callees included
  uint64_t entered;  // when the current activation began
  uint64_t reserved[6];
};
static_assert(sizeof(NodeCum) == 64);

// Follows a thread's root: the thread's metrics when they were last charged to a node.
struct ThreadMetrics {
  uint64_t charged[kPathMetrics];
  uint64_t reserved;
};
static_assert(sizeof(ThreadMetrics) == 64);

// The clock that the probes read, and its units (JTraceClock.java).
enum class ProbeClock : uint64_t {
  kNone = 0,
  kCoarse = 1,  // Arena::tick, nanoseconds
  kTsc = 2,     // the time-stamp counter
  kCpu = 3,     // the same, with time off the processors charged separately
  kNano = 4,    // System.nanoTime: where the time-stamp counter cannot be used
};

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
  uint32_t fold_ways;  // how many nodes have kNodeFolds, in which deep calls are folded; release
  // Metrics by call path.
  uint64_t counters;  // address of the thread's CounterBlock
  uint64_t metrics;   // address of its ThreadMetrics
  uint64_t changes;   // CounterBlock::changes when the counted metrics were last charged
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

// Threads take memory in chunks of 2 KB * 4^size_class; a thread's first one also holds its state.
struct Chunk {
  Ref next;
  uint32_t size_class;
  uint64_t reserved[7];
};
static_assert(sizeof(Chunk) == 64);
inline constexpr int kChunkClasses = 8;
inline constexpr uint64_t ChunkBytes(uint32_t size_class) { return 2048ull << (2 * size_class); }

// record=flat: a thread's state is followed by one pair per routine id; ids too big for it and
// virtual threads use `Arena::shared`, where counts are added atomically.
struct FlatCounter {
  uint64_t interpreted;
  uint64_t jitted;
};
inline constexpr uint32_t kFlatClass = 6;
inline constexpr uint32_t kFlatIds = 1u << 18;
// blocks=on: a thread's own counters of blocks. Ids too big for them, virtual threads and threads
// without memory use SharedBlocks, where counts are added atomically. Id 0 counts nothing.
inline constexpr uint32_t kBlockIds = 1u << 18;
struct OwnBlocks {
  uint64_t counts[kBlockIds];
};
static_assert(sizeof(OwnBlocks) == 2097152);
struct FlatState {
  ThreadState state;
  FlatCounter counters[kFlatIds];
  OwnBlocks blocks;
};
static_assert(offsetof(FlatState, counters) == 256 && offsetof(FlatState, blocks) == 4194560);
static_assert(sizeof(Chunk) + sizeof(FlatState) <= ChunkBytes(kFlatClass));

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

// clock=cpu: a critical section in the sense of rseq(2) that no thread ever executes. A thread's
// rseq_cs word refers to it until the kernel takes the thread off its processor, or delivers a
// signal to it; the kernel then finds that the thread is elsewhere and clears the word.
struct alignas(32) RseqDescriptor {
  uint32_t version;
  uint32_t flags;
  uint64_t start;
  uint64_t length;
  uint64_t abort;      // after the signature, which the kernel requires
  uint32_t signature;  // RSEQ_SIG
  uint32_t after_signature;
};

inline constexpr uint32_t kBucketCount = 16384;

// The arena's start. New chunks are taken from `next` on.
struct Arena {
  ThreadState lost_state;        // of threads that got no state; current is lost_node
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
  Node lost_node;                // current node of calls without a node; counts nothing
  NodeTimes lost_times;
  NodeMetrics lost_metrics;  // with a clock or without, directly after the field before it
  NodeBlocks lost_blocks;    // directly after lost_metrics; always empty
  uint64_t no_slot;          // the one word, free, of `slots` in nodes without children
  uint64_t tombstone;        // slots have its address where a child was
  uint32_t counts;           // probes=resting: 1: a recording runs, so the probes count
  uint32_t reserved_5;
  uint64_t reserved_4[21];
  uint64_t tick;  // clock=coarse: nanoseconds of CLOCK_MONOTONIC, written by CoarseClockThread
  uint64_t log_stopped;  // record=log: 1: no more records, the trees count the rest
  uint64_t log_waits;    // LogWaits (log_ring.h): what threads do whose rings are full
  uint64_t log_waited;   // nanoseconds that threads have waited; many add to it, atomically
  RseqDescriptor rseq;
  uint64_t always_on;  // address of `rseq`: virtual threads have this for an rseq_cs word
  // The metrics and counters of lost_state: many threads write them, nobody reads them.
  ThreadMetrics lost_charged;
  uint64_t lost_counters[48];  // a CounterBlock that counts nothing
  // record=log, bytes. log_most: the limit of each of the next two. log_large: chunks for rings of
  // the largest size, used or free. log_small: chunks of all smaller rings.
  uint64_t log_most;
  uint64_t log_large;
  uint64_t log_small;
  // By index in NodeMetrics: what all threads were charged with, for metrics of which nodes also
  // keep that (elapsed.NAME, counter_block.h). Many threads add to it, atomically.
  uint64_t elapsed[kPathMetrics];
  uint64_t reserved_3[321];
  Ref buckets[kBucketCount];       // states by java_tid % kBucketCount
  uint8_t compiled[kMaxRoutines];  // 1: the routine has compiled code of any tier
  FlatState shared;                // its counters continue to kMaxRoutines
};
static_assert(offsetof(Arena, state_limit) == 304);
static_assert(offsetof(Arena, free) == 320 && offsetof(Arena, lost_node) == 384);
static_assert(offsetof(Arena, buckets) == 4096 && offsetof(Arena, compiled) == 69632);
static_assert(offsetof(Arena, tick) == 896 && offsetof(Arena, rseq) == 928);
static_assert(offsetof(Arena, lost_counters) == 1064 && offsetof(Arena, log_most) == 1448);
static_assert(offsetof(Arena, elapsed) == 1472);
static_assert(offsetof(Arena, always_on) == 992 && offsetof(Arena, shared) == 33624064);

// Offset of the first chunk: after the shared counters, on a page of 2 MB.
inline constexpr uint64_t kFirstChunk = ((offsetof(Arena, shared) + offsetof(FlatState, counters) +
                                          uint64_t{kMaxRoutines} * sizeof(FlatCounter)) |
                                         0x1FFFFF) +
                                        1;

template <typename T>
T ReadRelaxed(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_relaxed);
}
template <typename T>
T ReadAcquire(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_acquire);
}
template <typename T>
void WriteRelaxed(T& field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
}
template <typename T>
void WriteRelease(T& field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_release);
}

// Returns the object at `ref`, which must not be 0.
template <typename T>
T* At(const Arena* arena, Ref ref) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(arena) +
                              (uint64_t{ref} << kGranuleShift));
}
inline Ref RefOf(const Arena* arena, const void* object) {
  return static_cast<Ref>(
      (reinterpret_cast<uintptr_t>(object) - reinterpret_cast<uintptr_t>(arena)) >> kGranuleShift);
}

// Whether the thread has a log or is in a gap of one: then its tree has no times.
inline bool HasLog(const ThreadState& state) {
  return ReadRelaxed(state.log_ring) != 0 || ReadRelaxed(state.log_gap) != 0;
}

}  // namespace jtrace::signal_safe
