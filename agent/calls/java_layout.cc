#include "agent/calls/java_layout.h"

#include "absl/strings/str_cat.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/block_counts.h"
#include "agent/signal_safe/flat_state.h"
#include "agent/signal_safe/log_ring.h"
#include "agent/signal_safe/metric_counts.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using signal_safe::Arena;
using signal_safe::Chunk;
using signal_safe::FlatState;
using signal_safe::LogRing;
using signal_safe::Node;
using signal_safe::NodeTimes;
using signal_safe::ThreadState;

namespace {

constexpr int64_t BeforeCounts(size_t offset) {
  return static_cast<int64_t>(offset) -
         static_cast<int64_t>(offsetof(signal_safe::SharedBlocks, counts));
}

constexpr LayoutConstant kLayoutConstants[] = {
    {"GRANULE_SHIFT", signal_safe::kGranuleShift},
    {"NODE_ROUTINE", offsetof(Node, routine)},
    {"NODE_PARENT", offsetof(Node, parent)},
    {"NODE_NEXT", offsetof(Node, next)},
    {"NODE_CALL_SITE", offsetof(Node, call_site)},
    {"NODE_INTERPRETED", offsetof(Node, interpreted)},
    {"NODE_JITTED", offsetof(Node, jitted)},
    {"NODE_DEPTH", offsetof(Node, depth)},
    {"NODE_FLAGS", offsetof(Node, flags)},
    {"NODE_SLOTS", offsetof(Node, slots)},
    {"NODE_MASK", offsetof(Node, mask)},
    {"MOST_MASK", signal_safe::kMaxMask},
    {"MASK_MOVES", signal_safe::kMaskMoves},
    {"NODE_SIZE", sizeof(Node)},
    {"NODE_TIMES_SIZE", sizeof(NodeTimes)},
    {"NODE_METRICS_SIZE", sizeof(signal_safe::NodeMetrics)},
    {"NODE_BLOCKS_SIZE", sizeof(signal_safe::NodeBlocks)},
    {"PATH_METRICS", signal_safe::kMaxPathMetrics},
    {"THREAD_METRICS_SIZE", sizeof(signal_safe::ThreadMetrics)},
    {"STATE_CURRENT", offsetof(ThreadState, current)},
    {"STATE_JAVA_TID", offsetof(ThreadState, java_tid)},
    {"STATE_NEXT", offsetof(ThreadState, next)},
    {"STATE_ROOT", offsetof(ThreadState, root)},
    {"STATE_LAST", offsetof(ThreadState, last)},
    {"STATE_CHUNKS", offsetof(ThreadState, chunks)},
    {"STATE_CHUNK_CLASS", offsetof(ThreadState, chunk_class)},
    {"STATE_BUMP", offsetof(ThreadState, bump)},
    {"STATE_LIMIT", offsetof(ThreadState, limit)},
    {"STATE_VIRTUAL", offsetof(ThreadState, is_virtual)},
    {"STATE_MISSES", offsetof(ThreadState, misses)},
    {"STATE_CHUNK_BYTES", offsetof(ThreadState, chunk_bytes)},
    {"STATE_SMALL_SLOTS", offsetof(ThreadState, small_slots)},
    {"STATE_SMALL_SLOTS_FREE", offsetof(ThreadState, small_slots_free)},
    {"STATE_POSITION_IS_PRUNED", offsetof(ThreadState, position_is_pruned)},
    {"STATE_FOLD_WAYS", offsetof(ThreadState, folding_nodes)},
    {"STATE_VICTIMS", offsetof(ThreadState, victims)},
    {"STATE_POOL", offsetof(ThreadState, pool)},
    {"STATE_FREED", offsetof(ThreadState, freed)},
    {"STATE_PRUNED", offsetof(ThreadState, pruned)},
    {"STATE_DROPPED", offsetof(ThreadState, dropped)},
    {"STATE_COUNTERS", offsetof(ThreadState, counters)},
    {"STATE_METRICS", offsetof(ThreadState, metrics)},
    {"STATE_CHANGES", offsetof(ThreadState, changes)},
    {"STATE_BLOCKS", offsetof(ThreadState, blocks)},
    {"STATE_CALL_START", offsetof(ThreadState, call_start)},
    {"ARENA_RECORDING_START", offsetof(Arena, recording_start)},
    {"COUNTS", offsetof(signal_safe::MetricCounts, counts)},
    {"BLOCK_IDS", signal_safe::kBlockIds},
    {"BLOCKS_SIZE", sizeof(signal_safe::OwnBlocks)},
    {"SHARED_BLOCK_IDS", signal_safe::kSharedBlockIds},
    {"BLOCKS_NEXT", BeforeCounts(offsetof(signal_safe::SharedBlocks, next))},
    {"BLOCKS_LIMIT", BeforeCounts(offsetof(signal_safe::SharedBlocks, limit))},
    {"BLOCKS_FREE", BeforeCounts(offsetof(signal_safe::SharedBlocks, free))},
    {"BLOCKS_RECORDING", BeforeCounts(offsetof(signal_safe::SharedBlocks, recording))},
    {"BLOCKS_OUT_OF_MEMORY", BeforeCounts(offsetof(signal_safe::SharedBlocks, out_of_memory))},
    {"SET_RANGE", offsetof(signal_safe::BlockSet, range)},
    {"SET_COUNTS", offsetof(signal_safe::BlockSet, counts)},
    {"SET_MORE", offsetof(signal_safe::BlockSet, more)},
    {"SET_OUT_OF_MEMORY", offsetof(signal_safe::BlockSet, out_of_memory)},
    {"SET_SIZE", sizeof(signal_safe::BlockSet)},
    {"NODE_OWN_BLOCKS", offsetof(signal_safe::NodeBlocks, own)},
    {"NODE_BLOCKS", signal_safe::kNodeBlocks},
    {"STATE_SIZE", sizeof(ThreadState)},
    {"VICTIMS_FOLD_WAYS", offsetof(signal_safe::Victims, folding_nodes)},
    {"VICTIMS_COUNT", offsetof(signal_safe::Victims, count)},
    {"VICTIMS_NODES", offsetof(signal_safe::Victims, nodes)},
    {"NODE_CUT_OFF", signal_safe::kNodeCutOff},
    {"NODE_ON_PATH", signal_safe::kNodeOnPath},
    {"NODE_FOLDS", signal_safe::kNodeFolds},
    {"PRUNED_ROUTINE", signal_safe::kPrunedRoutine},
    {"CALL_SITE_SHIFT", signal_safe::kCallSiteShift},
    {"CALL_SITE_IDS", signal_safe::kCallSiteIds},
    {"HAS_CALL_SITE", signal_safe::kHasCallSite},
    {"WITHOUT_CALL_SITE", signal_safe::kWithoutCallSite},
    {"TABLE_MASK", offsetof(signal_safe::ChildTable, mask)},
    {"TABLE_COUNT", offsetof(signal_safe::ChildTable, count)},
    {"TABLE_SLOTS", offsetof(signal_safe::ChildTable, slots)},
    {"CHUNK_NEXT", offsetof(Chunk, next)},
    {"CHUNK_CLASS", offsetof(Chunk, size_class)},
    {"CHUNK_HEADER", sizeof(Chunk)},
    {"CHUNK_CLASSES", signal_safe::kChunkClasses},
    {"FLAT_CLASS", signal_safe::kFlatClass},
    {"ARENA_NEXT", offsetof(Arena, next)},
    {"ARENA_LIMIT", offsetof(Arena, limit)},
    {"ARENA_FREES", offsetof(Arena, frees)},
    {"ARENA_RESERVE_LIMIT", offsetof(Arena, reserve_limit)},
    {"ARENA_MAX_DEPTH", offsetof(Arena, max_depth)},
    {"ARENA_LOST", offsetof(Arena, lost)},
    {"ARENA_STATE_LIMIT", offsetof(Arena, state_limit)},
    {"ARENA_FREE", offsetof(Arena, free)},
    {"ARENA_SINK_NODE", offsetof(Arena, sink_node)},
    {"ARENA_NO_SLOT", offsetof(Arena, no_slot)},
    {"ARENA_TOMBSTONE", offsetof(Arena, tombstone)},
    {"ARENA_COUNTS", offsetof(Arena, counts)},
    {"ARENA_BUCKETS", offsetof(Arena, buckets)},
    {"BUCKET_COUNT", signal_safe::kBucketCount},
    {"ARENA_COMPILED", offsetof(Arena, compiled)},
    {"COMPILED_COUNT", signal_safe::kMaxRoutines},
    {"ARENA_SHARED", offsetof(Arena, shared)},
    {"FLAT_COUNTERS", offsetof(FlatState, counters)},
    {"FLAT_IDS", signal_safe::kFlatIds},
    {"FLAT_BLOCKS", offsetof(FlatState, blocks)},
};

constexpr LayoutConstant kClockConstants[] = {
    {"COARSE", static_cast<int64_t>(signal_safe::ProbeClock::kCoarse)},
    {"TSC", static_cast<int64_t>(signal_safe::ProbeClock::kTsc)},
    {"CPU", static_cast<int64_t>(signal_safe::ProbeClock::kCpu)},
    {"ARENA_TICK", offsetof(Arena, tick)},
    {"ARENA_RSEQ", offsetof(Arena, rseq)},
    {"ARENA_ALWAYS_ON", offsetof(Arena, always_on)},
    {"STATE_LAST_PROBE", offsetof(ThreadState, last_probe)},
    {"STATE_CPU_SYNC", offsetof(ThreadState, cpu_sync)},
    {"STATE_CPU_SYNC_TICKS", offsetof(ThreadState, cpu_sync_ticks)},
    {"STATE_RSEQ", offsetof(ThreadState, rseq)},
    {"NODE_BASE", sizeof(Node) + offsetof(NodeTimes, base)},
    {"NODE_BASE_START", sizeof(Node) + offsetof(NodeTimes, base_start)},
    {"NODE_LEAST", sizeof(Node) + offsetof(NodeTimes, least)},
    {"NODE_GREATEST", sizeof(Node) + offsetof(NodeTimes, greatest)},
    {"NODE_OFF", sizeof(Node) + offsetof(NodeTimes, off)},
};

constexpr LayoutConstant kExitsConstants[] = {
    {"STATE_LAST_PROBE", offsetof(ThreadState, last_probe)},
    {"STATE_CUTS_LEFT", offsetof(ThreadState, cuts_left)},
    {"STATE_CUTS_MADE", offsetof(ThreadState, cuts_made)},
    {"STATE_OFF", offsetof(ThreadState, off)},
    {"NODE_CUM_SIZE", sizeof(signal_safe::NodeCum)},
};

constexpr LayoutConstant kMetricsConstants[] = {
    {"MAX_METRICS", signal_safe::kMaxMetrics},
    {"COUNTS", offsetof(signal_safe::MetricCounts, counts)},
    {"BLOCK_CHANGES", offsetof(signal_safe::MetricCounts, changes)},
    {"BLOCK_ALLOC_OFFSET", offsetof(signal_safe::MetricCounts, alloc_offset)},
};

constexpr LayoutConstant kChargesConstants[] = {
    {"ARENA_SINK_COUNTERS", offsetof(Arena, sink_counters)},
    {"ARENA_ELAPSED", offsetof(Arena, elapsed)},
    {"ELAPSED", signal_safe::kElapsed},
    {"OUTSIDE_NANOS", signal_safe::kBoundaryNanos},
    {"OUTSIDE_ELEMENTS", signal_safe::kBoundaryElements},
    {"BLOCK_CHANGES", offsetof(signal_safe::MetricCounts, changes)},
    {"BLOCK_ALLOC_OFFSET", offsetof(signal_safe::MetricCounts, alloc_offset)},
};

constexpr LayoutConstant kLogConstants[] = {
    {"COARSE", static_cast<int64_t>(signal_safe::ProbeClock::kCoarse)},
    {"CPU", static_cast<int64_t>(signal_safe::ProbeClock::kCpu)},
    {"ARENA_LOG_STOPPED", offsetof(Arena, log_stopped)},
    {"STATE_LOG_GAP", offsetof(ThreadState, log_gap)},
    {"STATE_LOG_MOVING", offsetof(ThreadState, log_moving)},
    {"STATE_LOG_DROPPED", offsetof(ThreadState, log_dropped)},
    {"STATE_LOG_TIME", offsetof(ThreadState, log_time)},
};

constexpr LayoutConstant kRingConstants[] = {
    {"STATE_LOG_NEXT", offsetof(ThreadState, log_next)},
    {"STATE_LOG_LIMIT", offsetof(ThreadState, log_limit)},
    {"STATE_LOG_READ", offsetof(ThreadState, log_read)},
    {"STATE_LOG_RING", offsetof(ThreadState, log_ring)},
    {"RING_TAIL", offsetof(LogRing, tail)},
    {"RING_BYTES", offsetof(LogRing, bytes)},
    {"RING_RECORD_BYTES", offsetof(LogRing, record_bytes)},
    {"RING_START_TICKS", offsetof(LogRing, start_ticks)},
    {"RING_PREVIOUS", offsetof(LogRing, previous)},
    {"RING_LAP", offsetof(LogRing, lap)},
    {"RING_DATA", sizeof(LogRing)},
    {"FIRST_CLASS", signal_safe::kFirstRingClass},
    {"CLASS_STEP", signal_safe::kRingClassStep},
    {"VIRTUAL_CLASS", signal_safe::kVirtualRingClass},
    {"LAST_CLASS", signal_safe::kLastRingClass},
    {"ARENA_LOG_WAITS", offsetof(Arena, log_waits)},
    {"ARENA_LOG_WAITED", offsetof(Arena, log_waited)},
    {"WAIT", static_cast<int64_t>(signal_safe::FullLogPolicy::kWait)},
    {"STALLED", static_cast<int64_t>(signal_safe::FullLogPolicy::kStalled)},
    {"ARENA_LOG_MOST", offsetof(Arena, log_most)},
    {"ARENA_LOG_LARGE", offsetof(Arena, log_large)},
    {"ARENA_LOG_SMALL", offsetof(Arena, log_small)},
    {"OP_BITS", signal_safe::kOpBits},
    {"KIND_DROPPED", static_cast<int64_t>(signal_safe::LogRecordKind::kDropped)},
    {"KIND_TIME", static_cast<int64_t>(signal_safe::LogRecordKind::kTime)},
    {"KIND_OFF", static_cast<int64_t>(signal_safe::LogRecordKind::kOff)},
    {"KIND_TIME_HIGH", static_cast<int64_t>(signal_safe::LogRecordKind::kTimeHigh)},
    {"KIND_AT", static_cast<int64_t>(signal_safe::LogRecordKind::kAt)},
};
static_assert(signal_safe::ChunkBytes(0) == 1 << 11 && signal_safe::ChunkBytes(1) == 1 << 13,
              "JTraceMemory.chunkBytes");

}  // namespace

absl::Span<const LayoutConstant> LayoutConstantsInJava() { return kLayoutConstants; }
absl::Span<const LayoutConstant> ClockConstantsInJava() { return kClockConstants; }
absl::Span<const LayoutConstant> ChargesConstantsInJava() { return kChargesConstants; }
absl::Span<const LayoutConstant> MetricsConstantsInJava() { return kMetricsConstants; }
absl::Span<const LayoutConstant> ExitsConstantsInJava() { return kExitsConstants; }
absl::Span<const LayoutConstant> LogConstantsInJava() { return kLogConstants; }
absl::Span<const LayoutConstant> RingConstantsInJava() { return kRingConstants; }

absl::Status CheckJavaLayout(JNIEnv* jni, jclass defined,
                             absl::Span<const LayoutConstant> constants) {
  for (const LayoutConstant& constant : constants) {
    jfieldID field = jni->GetStaticFieldID(defined, constant.java_name, "I");
    if (field == nullptr) {
      jni->ExceptionClear();
      return absl::InternalError(absl::StrCat("probe class: no field ", constant.java_name));
    }
    const jint value = jni->GetStaticIntField(defined, field);
    if (value != constant.value) {
      return absl::InternalError(absl::StrCat("probe class: ", constant.java_name, " is ", value,
                                              ", the C++ headers have ", constant.value));
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::calls
