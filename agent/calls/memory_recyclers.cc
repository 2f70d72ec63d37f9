#include "agent/calls/memory_recyclers.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/calls/block_counters.h"
#include "agent/calls/log_reader.h"
#include "agent/calls/node_state.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::Chunk;
using signal_safe::Node;
using signal_safe::ReadRelaxed;
using signal_safe::Ref;
using signal_safe::RefOf;
using signal_safe::ThreadState;

namespace {

constexpr uint64_t kMostBytes = 64ull << 30;
// Nodes keep their depth in 16 bits.
constexpr uint32_t kMostDepth = 60'000;
// For the trees, after the arena's start.
constexpr uint64_t kLeastBytes = 4ull << 20;

constexpr jint kAccStatic = 0x0008;
// The first field of the padded group.
constexpr char kPaddedField[] = "threadLocalRandomSeed";

std::vector<std::string> InstanceFields(jvmtiEnv* jvmti, jclass type) {
  std::vector<std::string> names;
  jint count = 0;
  jfieldID* fields = nullptr;
  if (jvmti->GetClassFields(type, &count, &fields) != JVMTI_ERROR_NONE) return names;
  for (jint i = 0; i < count; ++i) {
    jint modifiers = 0;
    char* name = nullptr;
    if (jvmti->GetFieldModifiers(type, fields[i], &modifiers) != JVMTI_ERROR_NONE) continue;
    if ((modifiers & kAccStatic) != 0) continue;
    if (jvmti->GetFieldName(type, fields[i], &name, nullptr, nullptr) != JVMTI_ERROR_NONE) continue;
    names.emplace_back(name);
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(fields));
  return names;
}

// jdk.internal.misc.Unsafe.objectFieldOffset(Class, String), which JNI may call like any method.
class FieldOffsets {
 public:
  explicit FieldOffsets(JNIEnv* jni) : jni_(jni) {
    jclass type = jni->FindClass("jdk/internal/misc/Unsafe");
    if (type == nullptr) return;
    jmethodID get = jni->GetStaticMethodID(type, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    if (get == nullptr) return;
    offset_ = jni->GetMethodID(type, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
    if (offset_ != nullptr) unsafe_ = jni->CallStaticObjectMethod(type, get);
    // Checked even though getUnsafe throws nothing: -Xcheck:jni warns of calls after an unchecked
    // one.
    if (jni->ExceptionCheck() == JNI_TRUE) unsafe_ = nullptr;
  }

  // -1 if it is unknown.
  jlong Of(jclass type, const std::string& field) const {
    if (unsafe_ == nullptr) return -1;
    jstring name = jni_->NewStringUTF(field.c_str());
    const jlong offset = jni_->CallLongMethod(unsafe_, offset_, type, name);
    jni_->DeleteLocalRef(name);
    return jni_->ExceptionCheck() ? -1 : offset;
  }

 private:
  JNIEnv* jni_;
  jmethodID offset_ = nullptr;
  jobject unsafe_ = nullptr;
};

// The padding lies directly before the group; any field in its range means there is none.
uint64_t SpareBefore(jlong padded, const std::vector<jlong>& offsets) {
  constexpr jlong kPadding = 128;
  constexpr jlong kLongestField = 8;
  for (jlong offset : offsets) {
    if (offset < 0) return 0;
    if (offset < padded && offset + kLongestField > padded - kPadding) return 0;
  }
  return padded > kPadding ? static_cast<uint64_t>(padded - kPadding / 2) & ~uint64_t{7} : 0;
}

}  // namespace

void FreeChunk(signal_safe::Arena* arena, signal_safe::Chunk& chunk) {
  constexpr uint64_t kGiveBackBytes = 1 << 20;
  const uint32_t size_class = chunk.size_class;
  const uint64_t bytes = signal_safe::ChunkBytes(size_class);
  char* end = reinterpret_cast<char*>(&chunk) + bytes;
  char* page = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(&chunk) + 4095) & ~4095ull);
  // Zeroed either way; big chunks without writing to pages that may never have been touched.
  if (bytes >= kGiveBackBytes && madvise(page, (end - page) & ~4095ull, MADV_DONTNEED) == 0) {
    std::memset(&chunk, 0, page - reinterpret_cast<char*>(&chunk));
    char* rest = page + ((end - page) & ~4095ull);
    std::memset(rest, 0, end - rest);
  } else {
    std::memset(&chunk, 0, bytes);
  }
  chunk.size_class = size_class;
  std::atomic_ref<uint64_t> free(arena->free[size_class]);
  uint64_t head = free.load(std::memory_order_relaxed);
  do {
    signal_safe::WriteRelaxed(chunk.next, static_cast<signal_safe::Ref>(head));
  } while (!free.compare_exchange_weak(
      head, (head & ~0xFFFFFFFFull) | signal_safe::RefOf(arena, &chunk)));
}

void NodeRecycler::FreeRetired() {
  if (retired_.empty()) return;
  // Before a thread can use a node for another path.
  std::atomic_ref<uint64_t>(arena_->frees).fetch_add(1);
  std::vector<Retired> later;
  for (const Retired& retired : retired_) {
    ThreadState& state = *retired.state;
    if (signal_safe::ReadAcquire(state.ended) != 0)
      continue;  // all its memory is released together
    // Until then the thread may look at its victims again.
    if (signal_safe::ReadAcquire(state.victims) != 0) {
      later.push_back(retired);
      continue;
    }
    const Node& node = *At<Node>(arena_, retired.node);
    const uint64_t slot_bytes = SlotBytes(*arena_, node);
    if (!AreFew(slot_bytes)) FreeSlots(state, node, slot_bytes);
    if (blocks_offset_ != 0) FreeBlocks(state, node);
    FreeOne(state, retired.node, AreFew(slot_bytes) && slot_bytes != 0 ? node.slots : 0);
  }
  retired_ = std::move(later);
}

void NodeRecycler::FreeSlots(ThreadState& state, const Node& node, uint64_t bytes) {
  if (bytes > signal_safe::kMaxMask) {
    const auto table = static_cast<Ref>(*reinterpret_cast<const uint64_t*>(node.slots + bytes));
    if (table != 0) FreeMemory(state, table, TableBytes(table));
    bytes += sizeof(uint64_t);
  }
  FreeMemory(state, signal_safe::RefOf(arena_, reinterpret_cast<const void*>(node.slots)), bytes);
}

// A set that got no counters, because an exception cut that off, stays.
void NodeRecycler::FreeBlocks(ThreadState& state, const Node& node) {
  const auto& head = *reinterpret_cast<const signal_safe::BlockSet*>(
      reinterpret_cast<const char*>(&node) + blocks_offset_);
  const auto bytes_of = [](const signal_safe::BlockSet& set) {
    return (set.range >> 32) * sizeof(uint64_t);
  };
  for (Ref more = head.more; more != 0;) {
    const Ref ref = more;
    const auto& set = *At<signal_safe::BlockSet>(arena_, ref);
    more = set.more;
    if (set.range != 0) FreeMemory(state, ref, sizeof set + bytes_of(set));
  }
  if (head.range >> 32 <= signal_safe::kNodeBlocks) return;
  FreeMemory(state, signal_safe::RefOf(arena_, reinterpret_cast<const void*>(head.counts)),
             bytes_of(head));
}

void NodeRecycler::TakeDroppedTables(ThreadState& state) {
  Ref table = std::atomic_ref<Ref>(state.dropped).exchange(0, std::memory_order_acquire);
  while (table != 0) {
    const Ref next = At<signal_safe::ChildTable>(arena_, table)->count;
    FreeMemory(state, table, TableBytes(table));
    table = next;
  }
}

uint64_t NodeRecycler::TableBytes(Ref table) const {
  const uint64_t slots = uint64_t{At<signal_safe::ChildTable>(arena_, table)->mask} + 1;
  return offsetof(signal_safe::ChildTable, slots) + slots * sizeof(uint64_t);
}

// A table, or slots, become as many nodes as fit in.
void NodeRecycler::FreeMemory(ThreadState& state, Ref memory, uint64_t bytes) {
  constexpr uint64_t kGranule = 1ull << signal_safe::kGranuleShift;
  const uint64_t whole = (bytes + kGranule - 1) / kGranule * kGranule;
  if (whole <= node_bytes_) return FreeOne(state, memory);  // was taken as a node
  for (uint64_t at = 0; at + node_bytes_ <= whole; at += node_bytes_) {
    FreeOne(state, memory + static_cast<Ref>(at >> signal_safe::kGranuleShift));
  }
}

void NodeRecycler::FreeOne(ThreadState& state, Ref ref, uint64_t few_slots) {
  Node& node = *At<Node>(arena_, ref);
  const auto mask = static_cast<uint16_t>(node.mask & ~signal_safe::kMaskMoves);
  std::memset(static_cast<void*>(&node), 0, node_bytes_);
  if (few_slots != 0) {
    node.slots = few_slots;
    node.mask = mask;
  }
  std::atomic_ref<Ref> freed(state.freed);
  Ref head = freed.load(std::memory_order_relaxed);
  do {
    node.next = head;
  } while (!freed.compare_exchange_weak(head, ref, std::memory_order_release,
                                        std::memory_order_relaxed));
}

void StateRecycler::TakeEnded(absl::FunctionRef<void(ThreadState&)> visit) {
  std::atomic_ref<uint64_t> ended(arena_->ended);
  auto ref = static_cast<Ref>(ended.exchange(0, std::memory_order_acquire));
  while (ref != 0) {
    auto& state = *At<ThreadState>(arena_, ref);
    ref = ReadRelaxed(state.ended_next);
    Unlink(state);
    if (blocks_ != nullptr) blocks_->AddEnded(state);
    visit(state);
  }
}

void StateRecycler::ForEachLive(absl::FunctionRef<void(ThreadState&)> visit) {
  for (const Ref& bucket : arena_->buckets) {
    for (Ref ref = signal_safe::ReadAcquire(bucket); ref != 0;) {
      auto& state = *At<ThreadState>(arena_, ref);
      visit(state);
      ref = ReadRelaxed(state.next);
    }
  }
}

void StateRecycler::Unlink(ThreadState& state) {
  Ref& bucket = arena_->buckets[state.tid % signal_safe::kBucketCount];
  const Ref self = RefOf(arena_, &state);
  const Ref next = ReadRelaxed(state.next);
  Ref expected = self;
  if (std::atomic_ref<Ref>(bucket).compare_exchange_strong(expected, next)) return;
  // Others are before it; after the head only we change links.
  Ref* link = &At<ThreadState>(arena_, expected)->next;
  while (ReadRelaxed(*link) != self) link = &At<ThreadState>(arena_, ReadRelaxed(*link))->next;
  signal_safe::WriteRelease(*link, next);
}

void StateRecycler::FreeRetired() {
  if (retired_.empty()) return;
  std::atomic_ref<uint64_t>(arena_->frees).fetch_add(1);
  for (ThreadState* state : retired_) {
    FreeRings(arena_, *state);
    if (blocks_ != nullptr) blocks_->Free(*state);
    for (Ref ref = state->chunks; ref != 0;) {
      auto& chunk = *At<Chunk>(arena_, ref);
      ref = chunk.next;
      // The chunk with the state is last in the list.
      FreeChunk(arena_, chunk);
    }
  }
  retired_.clear();
}

absl::StatusOr<signal_safe::Arena*> ReserveArena(uint64_t memory_limit, uint32_t max_depth) {
  uint64_t bytes = kMostBytes;
  if (memory_limit != 0) bytes = std::clamp(memory_limit, kLeastBytes, kMostBytes);
  // A program under a limit needs the other half: stacks of threads, its heap, its code.
  const uint64_t left = AddressSpaceLeft();
  const uint64_t ours = left / 2;
  bytes = std::min(bytes, ours > signal_safe::kFirstChunk ? ours - signal_safe::kFirstChunk : 0);
  for (; bytes >= kLeastBytes; bytes /= 2) {
    void* memory = mmap(nullptr, signal_safe::kFirstChunk + bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    // It is filled from the front. Probes walk trees in the program's order: for a node that is in
    // no cache, much of the cost is finding its page.
    madvise(memory, signal_safe::kFirstChunk + bytes, MADV_HUGEPAGE);
    return InitializeArena(memory, signal_safe::kFirstChunk + bytes, max_depth);
  }
  constexpr uint64_t kMegabyte = 1 << 20;
  return absl::ResourceExhaustedError(absl::StrCat(
      "no address space for the call trees, which reserve ",
      (signal_safe::kFirstChunk + kLeastBytes) / kMegabyte, " MB (few of them become memory)",
      left == std::numeric_limits<uint64_t>::max()
          ? "; allow overcommit (sysctl vm.overcommit_memory=0)"
          : absl::StrCat(" where ulimit -v leaves ", left / kMegabyte,
                         " MB, half of them for the program; raise it (ulimit -v unlimited)"),
      ", or record only samples: mode=samples"));
}

signal_safe::Arena* InitializeArena(void* memory, uint64_t bytes, uint32_t max_depth) {
  auto* arena = static_cast<signal_safe::Arena*>(memory);
  arena->lost_state.current = reinterpret_cast<uintptr_t>(&arena->lost_node);
  arena->no_slot = arena->lost_state.current;
  arena->lost_node.slots = reinterpret_cast<uintptr_t>(&arena->no_slot);
  arena->next = signal_safe::kFirstChunk;
  const uint64_t for_trees = bytes - signal_safe::kFirstChunk;
  arena->limit = bytes - for_trees / 16;
  arena->reserve_limit = bytes - for_trees / 32;
  arena->state_limit = bytes;
  arena->log_most = for_trees / 4;
  arena->max_depth = std::clamp(max_depth, 1u, kMostDepth);
  return arena;
}

uint64_t ArenaBytesUsed(const signal_safe::Arena& arena) {
  const uint64_t rings =
      signal_safe::ReadRelaxed(arena.log_large) + signal_safe::ReadRelaxed(arena.log_small);
  const uint64_t all = signal_safe::ReadRelaxed(arena.next) - signal_safe::kFirstChunk;
  return all - std::min(all, rings);
}

uint64_t AddressSpaceLeft() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<uint64_t>::max();
  }
  uint64_t pages = 0;  // the first number: all that is mapped
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t mapped = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

uint64_t FindThreadSpare(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (jni->PushLocalFrame(64) != 0) {
    jni->ExceptionClear();
    return 0;
  }
  uint64_t spare = 0;
  jclass thread = jni->FindClass("java/lang/Thread");
  if (thread != nullptr) {
    const FieldOffsets offset_of(jni);
    const jlong padded = offset_of.Of(thread, kPaddedField);
    std::vector<jlong> offsets;
    if (padded > 0) {
      for (const std::string& field : InstanceFields(jvmti, thread)) {
        offsets.push_back(offset_of.Of(thread, field));
      }
      spare = SpareBefore(padded, offsets);
    }
  }
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return spare;
}

}  // namespace jtrace::calls
