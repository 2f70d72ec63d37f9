#include "agent/probes/layout_check.h"

#include "absl/strings/str_cat.h"
#include "agent/hot/layout.h"

namespace jtrace {
namespace {

using hot::Arena;
using hot::Chunk;
using hot::FlatState;
using hot::Node;
using hot::ThreadState;

constexpr LayoutConstant kConstants[] = {
    {"GRANULE_SHIFT", hot::kGranuleShift},
    {"ID_BITS", 32 - hot::kGranuleShift},
    {"NODE_ROUTINE", offsetof(Node, routine)},
    {"NODE_PARENT", offsetof(Node, parent)},
    {"NODE_TABLE", offsetof(Node, table)},
    {"NODE_NEXT", offsetof(Node, next)},
    {"NODE_INTERPRETED", offsetof(Node, interpreted)},
    {"NODE_JITTED", offsetof(Node, jitted)},
    {"NODE_DEPTH", offsetof(Node, depth)},
    {"NODE_SLOTS", offsetof(Node, slots)},
    {"SLOT_COUNT", hot::kSlotCount},
    {"NODE_SIZE", sizeof(Node)},
    {"STATE_CURRENT", offsetof(ThreadState, current)},
    {"STATE_TID", offsetof(ThreadState, tid)},
    {"STATE_NEXT", offsetof(ThreadState, next)},
    {"STATE_ROOT", offsetof(ThreadState, root)},
    {"STATE_LAST", offsetof(ThreadState, last)},
    {"STATE_CHUNKS", offsetof(ThreadState, chunks)},
    {"STATE_CHUNK_CLASS", offsetof(ThreadState, chunk_class)},
    {"STATE_BUMP", offsetof(ThreadState, bump)},
    {"STATE_LIMIT", offsetof(ThreadState, limit)},
    {"STATE_VIRTUAL", offsetof(ThreadState, is_virtual)},
    {"STATE_CHUNK_BYTES", offsetof(ThreadState, chunk_bytes)},
    {"STATE_SIZE", sizeof(ThreadState)},
    {"CHUNK_NEXT", offsetof(Chunk, next)},
    {"CHUNK_CLASS", offsetof(Chunk, size_class)},
    {"CHUNK_HEADER", sizeof(Chunk)},
    {"CHUNK_CLASSES", hot::kChunkClasses},
    {"FLAT_CLASS", hot::kFlatClass},
    {"ARENA_NEXT", offsetof(Arena, next)},
    {"ARENA_LIMIT", offsetof(Arena, limit)},
    {"ARENA_FREES", offsetof(Arena, frees)},
    {"ARENA_FREE", offsetof(Arena, free)},
    {"ARENA_LOST_NODE", offsetof(Arena, lost_node)},
    {"ARENA_BUCKETS", offsetof(Arena, buckets)},
    {"BUCKET_COUNT", hot::kBucketCount},
    {"ARENA_COMPILED", offsetof(Arena, compiled)},
    {"COMPILED_COUNT", hot::kMaxRoutines},
    {"ARENA_SHARED", offsetof(Arena, shared)},
    {"FLAT_COUNTERS", offsetof(FlatState, counters)},
    {"FLAT_IDS", hot::kFlatIds},
};
static_assert(hot::ChunkBytes(0) == 1 << 11 && hot::ChunkBytes(1) == 1 << 13, "chunkBytes()");

}  // namespace

absl::Span<const LayoutConstant> LayoutConstants() { return kConstants; }

absl::Status CheckJavaLayout(JNIEnv* jni, jclass probe_class) {
  for (const LayoutConstant& constant : kConstants) {
    jfieldID field = jni->GetStaticFieldID(probe_class, constant.java_name, "I");
    if (field == nullptr) {
      jni->ExceptionClear();
      return absl::InternalError(absl::StrCat("probe class: no field ", constant.java_name));
    }
    const jint value = jni->GetStaticIntField(probe_class, field);
    if (value != constant.value) {
      return absl::InternalError(absl::StrCat("probe class: ", constant.java_name, " is ", value,
                                              ", layout.h has ", constant.value));
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace
