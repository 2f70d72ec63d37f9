// The call paths that allocate objects, and how many objects and bytes each has allocated and lost.
//
// A calling-context tree of all threads, beside the probes' trees: an object may outlive its thread
// and the node that made it, and its tag can hold only a number. Takes no memory unless a recording
// wants it. Threads: CurrentPath on the allocating thread, under a mutex, a leaf; Allocated, Freed
// and Read on any, without a lock and without allocations; End while no callback runs.
#pragma once

#include <jvmti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/metrics/thread_counters.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::metrics {

struct ObjectCounts {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

// The objects of one path, callees not included. Every freed object is among those allocated.
struct AllocationCounts {
  ObjectCounts allocated;
  ObjectCounts freed;
};

class AllocationPaths {
 public:
  // Paths outside of all trees. kNoPath: of objects of native threads, and of calls for which the
  // probes found no memory. kTooMany: of objects for whose paths there is no room.
  static constexpr uint32_t kNoPath = 0;
  static constexpr uint32_t kTooMany = 1;
  static constexpr uint32_t kFirstPath = 2;
  // About 150 bytes each, with what the writer keeps.
  static constexpr uint32_t kMaxPaths = 1 << 20;
  // Platform threads that are distinguished.
  static constexpr size_t kOwners = 1000;

  // A parent has a lower number than its children.
  struct Path {
    uint32_t parent = 0;   // 0: a thread's root
    uint32_t routine = 0;  // as Node::routine
    uint32_t owner = 0;    // index of the Owner
  };
  // A thread, or all virtual threads, or all platform threads beyond the first ones.
  struct Owner {
    static constexpr uint64_t kVirtual = UINT64_MAX;
    static constexpr uint64_t kMore = UINT64_MAX - 1;
    uint64_t java_tid = 0;  // Thread.threadId(), kVirtual or kMore
    uint32_t root = 0;      // the path of objects allocated outside of probed methods
    bool has_tree = false;  // it has run a probed method
  };

  explicit AllocationPaths(uint32_t max_paths = kMaxPaths, size_t max_owners = kOwners)
      : max_paths_(max_paths), max_owners_(max_owners) {}
  AllocationPaths(const AllocationPaths&) = delete;
  AllocationPaths& operator=(const AllocationPaths&) = delete;
  ~AllocationPaths() { End(); }

  // Begins a recording, without paths and counts. All else is called between Begin and End. Keeps
  // the memory of a recording that has not ended: a callback that is still in it may count there.
  void Begin();
  void End();

  // Returns the path of the calling thread's current node. `java_tid` 0: a native thread.
  uint32_t CurrentPath(uint64_t java_tid, bool is_virtual);
  // Counts an object that the path allocated, and one that was found dead.
  void Allocated(uint32_t path, uint64_t bytes);
  void Freed(uint32_t path, uint64_t bytes);
  // May be called while threads count: `allocated` then includes every object that is in `freed`.
  AllocationCounts Read(uint32_t path) const;

  // Appends the paths that are not in `paths` yet, and replaces `owners`.
  void CopyTo(std::vector<Path>& paths, std::vector<Owner>& owners) const;

 private:
  struct Counts {
    void Clear() {
      for (auto* const count :
           {&allocated_objects, &allocated_bytes, &freed_objects, &freed_bytes}) {
        count->store(0, std::memory_order_relaxed);
      }
    }

    std::atomic<uint64_t> allocated_objects{0};
    std::atomic<uint64_t> allocated_bytes{0};
    std::atomic<uint64_t> freed_objects{0};
    std::atomic<uint64_t> freed_bytes{0};
  };
  // Blocks of counts never move, so counting needs no lock.
  static constexpr uint32_t kBlock = 4096;
  using Block = std::array<Counts, kBlock>;

  // A cached path of a node. Valid only while Arena::frees equals `frees`: later the node's memory
  // may belong to another path.
  struct CachedPath {
    const signal_safe::Node* node = nullptr;
    uint64_t java_tid = 0;
    uint64_t frees = 0;
    uint32_t path = 0;
  };
  static constexpr size_t kKnown = 4096;

  void ForgetLocked();
  uint32_t PathLocked(const signal_safe::Arena* arena, const signal_safe::ThreadState& state,
                      bool is_virtual);
  CachedPath& CacheEntryLocked(const signal_safe::Node* node);
  uint32_t RootLocked(uint64_t java_tid, bool is_virtual, bool has_tree);
  uint32_t ChildLocked(uint32_t parent, uint32_t routine);
  uint32_t AddLocked(const Path& path);
  const Counts& CountsOf(uint32_t path) const;
  Counts& CountsOf(uint32_t path) {
    return const_cast<Counts&>(std::as_const(*this).CountsOf(path));
  }

  const uint32_t max_paths_;
  const size_t max_owners_;
  std::array<std::atomic<Block*>, kMaxPaths / kBlock> blocks_ = {};
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Path> paths_;
  std::vector<Owner> owners_;
  absl::flat_hash_map<uint64_t, uint32_t> owner_of_;                       // index, by java_tid
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> children_;  // (parent, routine)
  std::vector<CachedPath> known_;  // kKnown of them, by the node's address
};

}  // namespace jtrace::metrics
