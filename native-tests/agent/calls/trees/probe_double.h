// Moves through the trees as JTraceProbe.java does, in C++: for tests of their readers.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "agent/calls/trees/arena_reservation.h"
#include "agent/calls/trees/memory_recyclers.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::testing {

// An arena that is freed with the test.
class TestArena {
 public:
  explicit TestArena(uint64_t tree_bytes = 1 << 26)
      : bytes_(signal_safe::kFirstChunk + tree_bytes) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap");
    arena_ = calls::InitializeArena(memory_, bytes_);
  }
  TestArena(const TestArena&) = delete;
  TestArena& operator=(const TestArena&) = delete;
  ~TestArena() { munmap(memory_, bytes_); }

  signal_safe::Arena* get() { return arena_; }
  signal_safe::Arena* operator->() { return arena_; }

 private:
  uint64_t bytes_;
  void* memory_;
  signal_safe::Arena* arena_;
};

// One Java thread. Children are found by a walk over the list of nodes, which is slow but correct;
// slots and tables are the probes' own concern. With a clock, each probe runs a tick after the last
// one.
class ProbeDouble {
 public:
  ProbeDouble(signal_safe::Arena* arena, uint64_t tid, bool is_virtual = false,
              bool has_clock = false, calls::PathMetrics metrics = {}, bool has_blocks = false)
      : arena_(arena),
        metrics_(std::move(metrics)),
        has_clock_(has_clock),
        metrics_offset_(sizeof(signal_safe::Node) +
                        (has_clock ? sizeof(signal_safe::NodeTimes) : 0)),
        blocks_offset_(metrics_offset_ + (metrics_.empty() ? 0 : sizeof(signal_safe::NodeMetrics))),
        node_bytes_(blocks_offset_ + (has_blocks ? sizeof(signal_safe::NodeBlocks) : 0)) {
    signal_safe::Chunk* chunk = NewChunk(0);
    state_ = reinterpret_cast<signal_safe::ThreadState*>(chunk + 1);
    auto* root = reinterpret_cast<signal_safe::Node*>(state_ + 1);
    state_->java_tid = tid;
    state_->is_virtual = is_virtual;
    state_->root = state_->last = Ref(root);
    state_->chunks = Ref(chunk);
    state_->bump = reinterpret_cast<uintptr_t>(root) + node_bytes_;
    if (!metrics_.empty()) {
      state_->counters = reinterpret_cast<uintptr_t>(&block_);
      state_->metrics = state_->bump;
      state_->bump += sizeof(signal_safe::ThreadMetrics);
      auto& charged = reinterpret_cast<signal_safe::ThreadMetrics*>(state_->metrics)->charged;
      for (size_t i = metrics_.first_elapsed(); i < metrics_.numbers.size(); ++i) {
        charged[i] = arena->elapsed[i];
      }
    }
    state_->limit = reinterpret_cast<uintptr_t>(chunk) + signal_safe::ChunkBytes(0);
    SetCurrent(root);
    Publish();
  }

  // Returns the token, as enter(I)J does.
  uint64_t Enter(uint32_t routine, bool jitted = false) {
    const uint64_t token = signal_safe::ReadRelaxed(state_->current);
    Charge();
    signal_safe::Node* child = Child(reinterpret_cast<signal_safe::Node*>(token), routine);
    Tick();
    uint64_t& counter = jitted ? child->jitted : child->interpreted;
    ++calls_;
    ++by_routine_[routine];
    jitted_ += jitted;
    signal_safe::WriteRelaxed(counter, signal_safe::ReadRelaxed(counter) + 1);
    SetCurrent(child);
    return token;
  }
  void Exit(uint64_t token) {
    Charge();
    Tick();
    signal_safe::WriteRelaxed(state_->current, token);
  }

  // Counts a block at the current node, in the set of `size` counters whose ids begin with `first`.
  void Hit(uint32_t first, uint32_t size, uint32_t place) {
    auto& head = *reinterpret_cast<signal_safe::NodeBlocks*>(
        signal_safe::ReadRelaxed(state_->current) + blocks_offset_);
    const uint64_t range = uint64_t{size} << 32 | first;
    signal_safe::BlockSet* set = &head.set;
    while (set->range != 0 && set->range != range && set->more != 0) {
      set = signal_safe::At<signal_safe::BlockSet>(arena_, set->more);
    }
    if (set->range != range) {
      if (set->range != 0) {
        auto* added = static_cast<signal_safe::BlockSet*>(AllocateAsNode(sizeof *set + 8 * size));
        added->counts = reinterpret_cast<uintptr_t>(added + 1);
        signal_safe::WriteRelease(set->more, Ref(added));
        set = added;
      } else {
        set->counts = size <= signal_safe::kNodeBlocks
                          ? reinterpret_cast<uintptr_t>(&head.own)
                          : reinterpret_cast<uintptr_t>(AllocateAsNode(8 * size));
      }
      signal_safe::WriteRelease(set->range, range);
    }
    uint64_t& count = reinterpret_cast<uint64_t*>(set->counts)[place];
    signal_safe::WriteRelaxed(count, signal_safe::ReadRelaxed(count) + 1);
  }
  // There was no memory for a counter of the current node.
  void LoseBlocks() {
    auto& head = *reinterpret_cast<signal_safe::NodeBlocks*>(
        signal_safe::ReadRelaxed(state_->current) + blocks_offset_);
    signal_safe::WriteRelaxed(head.set.out_of_memory, uint32_t{1});
  }

  // The thread counts so much of a metric.
  void Count(uint32_t number, int64_t delta) { signal_safe::Count(block_, number, delta); }
  // No more probes will follow.
  void Charge() {
    if (!metrics_.empty()) calls::ChargeRemainder(metrics_, *state_, metrics_offset_);
  }

  // As signal_safe::NotifyThreadEnded does for the published arena.
  void End() {
    signal_safe::WriteRelease(state_->ended, uint32_t{1});
    std::atomic_ref<uint64_t> ended(arena_->ended);
    uint64_t head = ended.load();
    do {
      signal_safe::WriteRelaxed(state_->ended_next, static_cast<signal_safe::Ref>(head));
    } while (!ended.compare_exchange_weak(head, Ref(state_)));
  }

  // Puts every child into its parent's slots, for readers that look there. Routines of one parent
  // differ in their low bits.
  void FillSlots() {
    ForEachNode([this](signal_safe::Node& node) {
      if (node.parent == 0) return;
      auto* parent = signal_safe::At<signal_safe::Node>(arena_, node.parent);
      std::vector<uint64_t>& slots = slots_[node.parent];
      slots.resize(kSlots, reinterpret_cast<uintptr_t>(&arena_->sink_node));
      slots[node.routine % kSlots] = reinterpret_cast<uintptr_t>(&node);
      parent->mask = (kSlots - 1) * sizeof(uint64_t);
      parent->slots = reinterpret_cast<uintptr_t>(slots.data());
    });
  }

  // Cuts off the nodes that the collector requested, except those above the current node.
  void Prune() {
    const auto* victims =
        reinterpret_cast<const signal_safe::Victims*>(signal_safe::ReadAcquire(state_->victims));
    if (victims == nullptr) return;
    std::set<signal_safe::Ref> path;
    for (auto ref = static_cast<signal_safe::Ref>(current_ref()); ref != 0;
         ref = signal_safe::At<signal_safe::Node>(arena_, ref)->parent) {
      path.insert(ref);
    }
    for (uint32_t i = 0; i < victims->count && victims->folding_nodes == state_->folding_nodes;
         ++i) {
      auto* node = signal_safe::At<signal_safe::Node>(arena_, (&victims->nodes[0])[i]);
      if (!path.contains((&victims->nodes[0])[i])) {
        signal_safe::WriteRelease(node->flags,
                                  static_cast<uint8_t>(node->flags | signal_safe::kNodeCutOff));
      }
    }
    signal_safe::WriteRelease(state_->victims, uint64_t{0});
  }

  signal_safe::Ref NewNode(const signal_safe::Node& parent, uint32_t routine) {
    signal_safe::Node* node = FreeNode();
    if (node == nullptr) node = static_cast<signal_safe::Node*>(Allocate(node_bytes_));
    node->routine = routine;
    node->parent = Ref(&parent);
    signal_safe::WriteRelease(signal_safe::At<signal_safe::Node>(arena_, state_->last)->next,
                              Ref(node));
    state_->last = Ref(node);
    return Ref(node);
  }

  // Everything that was entered so far.
  uint64_t calls() const { return calls_; }
  uint64_t jitted() const { return jitted_; }
  const std::map<uint32_t, uint64_t>& by_routine() const { return by_routine_; }
  // Time in called methods so far.
  uint64_t ticks() const { return ticks_; }

  signal_safe::ThreadState* state() { return state_; }
  uint64_t current_ref() { return Ref(reinterpret_cast<void*>(state_->current)); }

 private:
  signal_safe::Ref Ref(const void* object) { return signal_safe::RefOf(arena_, object); }
  void SetCurrent(signal_safe::Node* node) {
    signal_safe::WriteRelaxed(state_->current,
                              static_cast<uint64_t>(reinterpret_cast<uintptr_t>(node)));
  }

  template <typename Visit>
  void ForEachNode(Visit visit) {
    for (signal_safe::Ref ref = state_->root; ref != 0;
         ref = signal_safe::At<signal_safe::Node>(arena_, ref)->next) {
      visit(*signal_safe::At<signal_safe::Node>(arena_, ref));
    }
  }

  void Tick() {
    auto* node = reinterpret_cast<signal_safe::Node*>(signal_safe::ReadRelaxed(state_->current));
    if (!has_clock_ || node->routine == 0) return;
    auto* times = reinterpret_cast<signal_safe::NodeTimes*>(node + 1);
    signal_safe::WriteRelaxed(times->base, signal_safe::ReadRelaxed(times->base) + 1);
    ++ticks_;
  }

  signal_safe::Node* Child(signal_safe::Node* parent, uint32_t routine) {
    for (signal_safe::Ref ref = state_->root; ref != 0;
         ref = signal_safe::At<signal_safe::Node>(arena_, ref)->next) {
      auto* node = signal_safe::At<signal_safe::Node>(arena_, ref);
      if (node->routine == routine && node->parent == Ref(parent) &&
          (node->flags & signal_safe::kNodeCutOff) == 0) {
        return node;
      }
    }
    return signal_safe::At<signal_safe::Node>(arena_, NewNode(*parent, routine));
  }

  signal_safe::Node* FreeNode() {
    if (state_->pool == 0) {
      state_->pool = std::atomic_ref<signal_safe::Ref>(state_->freed).exchange(0);
    }
    if (state_->pool == 0) return nullptr;
    auto* node = signal_safe::At<signal_safe::Node>(arena_, state_->pool);
    state_->pool = node->next;
    node->next = 0;
    return node;
  }

  // As JTraceSlots.allocate: NodeRecycler frees it.
  void* AllocateAsNode(uint64_t bytes) {
    if (bytes > node_bytes_) return Allocate((bytes + 63) / 64 * 64);
    signal_safe::Node* node = FreeNode();
    return node != nullptr ? node : Allocate(node_bytes_);
  }

  void* Allocate(uint64_t bytes) {
    if (state_->limit - state_->bump < bytes) {
      signal_safe::Chunk* chunk = NewChunk(1);
      signal_safe::WriteRelaxed(chunk->next, state_->chunks);
      state_->chunks = Ref(chunk);
      state_->bump = reinterpret_cast<uintptr_t>(chunk + 1);
      state_->limit = reinterpret_cast<uintptr_t>(chunk) + signal_safe::ChunkBytes(1);
    }
    state_->bump += bytes;
    return reinterpret_cast<void*>(state_->bump - bytes);
  }

  signal_safe::Chunk* NewChunk(uint32_t size_class) {
    std::atomic_ref<uint64_t> free(arena_->free[size_class]);
    for (uint64_t head = free.load(); static_cast<signal_safe::Ref>(head) != 0;) {
      auto* chunk =
          signal_safe::At<signal_safe::Chunk>(arena_, static_cast<signal_safe::Ref>(head));
      const uint64_t next = ((head >> 32) + 1) << 32 | signal_safe::ReadRelaxed(chunk->next);
      if (!free.compare_exchange_weak(head, next)) continue;
      signal_safe::WriteRelaxed(chunk->next, signal_safe::Ref{0});
      return chunk;
    }
    const uint64_t offset =
        std::atomic_ref<uint64_t>(arena_->next).fetch_add(signal_safe::ChunkBytes(size_class));
    if (offset + signal_safe::ChunkBytes(size_class) > arena_->limit) throw std::bad_alloc();
    auto* chunk =
        reinterpret_cast<signal_safe::Chunk*>(reinterpret_cast<uintptr_t>(arena_) + offset);
    chunk->size_class = size_class;
    return chunk;
  }

  void Publish() {
    std::atomic_ref<signal_safe::Ref> bucket(
        arena_->buckets[state_->java_tid % signal_safe::kBucketCount]);
    signal_safe::Ref head = bucket.load();
    do {
      signal_safe::WriteRelaxed(state_->next, head);
    } while (!bucket.compare_exchange_weak(head, Ref(state_)));
  }

  static constexpr uint32_t kSlots = 16;

  signal_safe::Arena* arena_;
  std::map<signal_safe::Ref, std::vector<uint64_t>> slots_;
  const calls::PathMetrics metrics_;
  const bool has_clock_;
  const uint64_t metrics_offset_;
  const uint64_t blocks_offset_;
  const uint64_t node_bytes_;
  signal_safe::MetricCounts block_ = {};
  signal_safe::ThreadState* state_;
  uint64_t calls_ = 0;
  std::map<uint32_t, uint64_t> by_routine_;
  uint64_t jitted_ = 0;
  uint64_t ticks_ = 0;
};

}  // namespace jtrace::testing
