#include "agent/metrics/allocation_paths.h"

#include "absl/container/inlined_vector.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::metrics {

using signal_safe::At;
using signal_safe::Node;
using signal_safe::ReadRelaxed;

void AllocationPaths::Begin() {
  const std::lock_guard lock(mutex_);
  ForgetLocked();
  for (const std::atomic<Block*>& block : blocks_) {
    if (block.load() == nullptr) continue;
    for (Counts& counts : *block.load()) counts.Clear();
  }
  known_.resize(kKnown);
  AddLocked({});  // kNoPath
  AddLocked({});  // kTooMany
}

void AllocationPaths::End() {
  const std::lock_guard lock(mutex_);
  ForgetLocked();
  for (std::atomic<Block*>& block : blocks_) delete block.exchange(nullptr);
}

void AllocationPaths::ForgetLocked() {
  paths_ = {};
  owners_ = {};
  owner_of_ = {};
  children_ = {};
  known_ = {};
}

// ---- The current path of a thread -------------------------------------------------------------

uint32_t AllocationPaths::CurrentPath(uint64_t java_tid, bool is_virtual) {
  if (java_tid == 0) return kNoPath;
  const signal_safe::Arena* arena = signal_safe::published_arena.load(std::memory_order_acquire);
  const signal_safe::ThreadState* state =
      arena == nullptr ? nullptr : signal_safe::FindThreadState(arena, java_tid);
  const std::lock_guard lock(mutex_);
  // The memory of a thread that has ended may be gone at any moment.
  if (state == nullptr || signal_safe::ReadAcquire(state->ended) != 0) {
    return RootLocked(java_tid, is_virtual, /*has_tree=*/false);
  }
  return PathLocked(arena, *state, is_virtual);
}

uint32_t AllocationPaths::PathLocked(const signal_safe::Arena* arena,
                                     const signal_safe::ThreadState& state, bool is_virtual) {
  const uint64_t frees = signal_safe::ReadAcquire(arena->frees);
  const auto is_known = [&](const CachedPath& known, const Node* node) {
    return known.node == node && known.java_tid == state.java_tid && known.frees == frees;
  };
  absl::InlinedVector<const Node*, 64> steps;
  const Node* const root = At<Node>(arena, state.root);
  const auto* node = reinterpret_cast<const Node*>(ReadRelaxed(state.current));
  if (node == nullptr) return kNoPath;  // the state is being made
  signal_safe::RootPath at(arena, *node);
  for (; node != root && !is_known(CacheEntryLocked(node), node); node = &*at) {
    steps.push_back(node);
    if (!at.Up()) return kNoPath;
  }
  uint32_t path = node == root ? RootLocked(state.java_tid, is_virtual, /*has_tree=*/true)
                               : CacheEntryLocked(node).path;
  for (size_t i = steps.size(); i-- > 0;) {
    path = ChildLocked(path, steps[i]->routine);
    CacheEntryLocked(steps[i]) = {steps[i], state.java_tid, frees, path};
  }
  return path;
}

AllocationPaths::CachedPath& AllocationPaths::CacheEntryLocked(const Node* node) {
  return known_[(reinterpret_cast<uintptr_t>(node) >> signal_safe::kGranuleShift) % kKnown];
}

uint32_t AllocationPaths::RootLocked(uint64_t java_tid, bool is_virtual, bool has_tree) {
  uint64_t owner = is_virtual ? Owner::kVirtual : java_tid;
  const bool is_full = owners_.size() >= max_owners_ && !owner_of_.contains(owner);
  if (is_full && !is_virtual) owner = Owner::kMore;
  const auto [entry, is_new] = owner_of_.try_emplace(owner, owners_.size());
  if (is_new) {
    const uint32_t root = AddLocked({.owner = entry->second});
    owners_.push_back({.java_tid = owner, .root = root});
  }
  Owner& known = owners_[entry->second];
  known.has_tree |= has_tree;
  return known.root;
}

uint32_t AllocationPaths::ChildLocked(uint32_t parent, uint32_t routine) {
  if (parent < kFirstPath) return parent;
  const auto found = children_.find({parent, routine});
  if (found != children_.end()) return found->second;
  const uint32_t child =
      AddLocked({.parent = parent, .routine = routine, .owner = paths_[parent].owner});
  if (child != kTooMany) children_.emplace(std::pair(parent, routine), child);
  return child;
}

uint32_t AllocationPaths::AddLocked(const Path& path) {
  if (paths_.size() >= max_paths_) return kTooMany;
  const auto number = static_cast<uint32_t>(paths_.size());
  std::atomic<Block*>& block = blocks_[number / kBlock];
  if (block.load(std::memory_order_relaxed) == nullptr) {
    block.store(new Block(), std::memory_order_release);
  }
  paths_.push_back(path);
  return number;
}

// ---- Counts -----------------------------------------------------------------------------------

const AllocationPaths::Counts& AllocationPaths::CountsOf(uint32_t path) const {
  return (*blocks_[path / kBlock].load(std::memory_order_acquire))[path % kBlock];
}

void AllocationPaths::Allocated(uint32_t path, uint64_t bytes) {
  Counts& counts = CountsOf(path);
  counts.allocated_objects.fetch_add(1, std::memory_order_relaxed);
  counts.allocated_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

// Release: Read, which loads these first, with acquire, then also sees that the object was
// allocated.
void AllocationPaths::Freed(uint32_t path, uint64_t bytes) {
  Counts& counts = CountsOf(path);
  counts.freed_objects.fetch_add(1, std::memory_order_release);
  counts.freed_bytes.fetch_add(bytes, std::memory_order_release);
}

AllocationCounts AllocationPaths::Read(uint32_t path) const {
  const Counts& counts = CountsOf(path);
  AllocationCounts read;
  read.freed.objects = counts.freed_objects.load(std::memory_order_acquire);
  read.freed.bytes = counts.freed_bytes.load(std::memory_order_acquire);
  read.allocated.objects = counts.allocated_objects.load(std::memory_order_relaxed);
  read.allocated.bytes = counts.allocated_bytes.load(std::memory_order_relaxed);
  return read;
}

void AllocationPaths::CopyTo(std::vector<Path>& paths, std::vector<Owner>& owners) const {
  const std::lock_guard lock(mutex_);
  paths.insert(paths.end(), paths_.begin() + static_cast<ptrdiff_t>(paths.size()), paths_.end());
  owners = owners_;
}

}  // namespace jtrace::metrics
