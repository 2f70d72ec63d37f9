#include "agent/calls/block_counters.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/calls/memory_recyclers.h"

namespace jtrace::calls {

using signal_safe::BlockSet;
using signal_safe::Node;
using signal_safe::ReadRelaxed;

namespace {

// Null: there is none.
void* ReserveMemory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

constexpr uint32_t SizeOf(uint64_t range) { return static_cast<uint32_t>(range >> 32); }

// Counters that got new ids began at 0 again: so the ids are part of what is compared, in a way
// that counts do not make up for.
constexpr uint64_t MarkOf(uint64_t first) { return first * 0x9e37'79b9'7f4a'7c15; }

// Calls f(set, range) for the sets that have counters.
template <typename F>
void ForEachSet(const signal_safe::Arena* arena, const BlockSet& head, F f) {
  for (const BlockSet* set = &head;;) {
    const uint64_t range = signal_safe::ReadAcquire(set->range);
    if (range != 0) f(*set, range);
    const signal_safe::Ref more = signal_safe::ReadAcquire(set->more);
    if (more == 0) return;
    set = signal_safe::At<BlockSet>(arena, more);
  }
}

bool AnyCount(const PathCounts::OfCode& code) {
  return std::any_of(code.counts.begin(), code.counts.end(), [](uint64_t it) { return it != 0; });
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlockCounters>> BlockCounters::Reserve(bool by_path) {
  constexpr uint64_t kHeader = offsetof(signal_safe::SharedBlocks, counts);
  constexpr uint64_t kFirst =
      sizeof(signal_safe::SharedBlocks::counts) / (sizeof(signal_safe::OwnBlocks));
  constexpr uint64_t kMostThreads = 8192;
  constexpr size_t kOwners = signal_safe::kSharedBlockIds * sizeof(uint64_t);
  for (uint64_t threads = by_path ? 1 : kMostThreads; threads > 0; threads /= 2) {
    const size_t bytes = kHeader + (kFirst + threads) * sizeof(signal_safe::OwnBlocks);
    auto* shared = static_cast<signal_safe::SharedBlocks*>(ReserveMemory(bytes));
    if (shared == nullptr) continue;
    void* owners = by_path ? ReserveMemory(kOwners) : nullptr;
    if (by_path && owners == nullptr) {
      munmap(shared, bytes);
      continue;
    }
    shared->next = kFirst;
    shared->limit = kFirst + threads;
    return absl::WrapUnique(new BlockCounters(shared, static_cast<uint64_t*>(owners)));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("no address space for the counters of blocks, which reserve ",
                   (sizeof(signal_safe::SharedBlocks) + (by_path ? kOwners : 0)) >> 20,
                   " MB; raise it (ulimit -v unlimited), or record without blocks=on"));
}

void BlockCounters::SetOwner(uint32_t first, uint32_t count, uint32_t routine, bool is_leaf) {
  if (owners_ == nullptr || count > signal_safe::BlockOwner::kMaxSize ||
      first + count > signal_safe::kSharedBlockIds) {
    return;
  }
  for (uint32_t place = 0; place < count; ++place) {
    signal_safe::WriteRelaxed(owners_[first + place],
                              signal_safe::BlockOwner::Pack(routine, is_leaf, count, place));
  }
}

void BlockCounters::BeginRecording() {
  signal_safe::WriteRelaxed(shared_->unkept, uint64_t{0});
  signal_safe::WriteRelease(shared_->recording, uint64_t{next_.load(std::memory_order_relaxed)});
}

void BlockCounters::AddOwn(const signal_safe::ThreadState& state,
                           std::vector<uint64_t>& sums) const {
  if (!HasOwn(state)) return;
  const size_t ids = std::min(next_.load(std::memory_order_relaxed), signal_safe::kBlockIds);
  if (sums.size() < ids) sums.resize(ids);
  const auto& own = *reinterpret_cast<const signal_safe::OwnBlocks*>(state.blocks);
  for (size_t id = 1; id < ids; ++id) sums[id] += signal_safe::ReadRelaxed(own.counts[id]);
}

std::vector<uint64_t> BlockCounters::Collect(signal_safe::Arena* arena) const {
  std::vector<uint64_t> sums = ended_;
  sums.resize(std::min(next_.load(std::memory_order_relaxed), signal_safe::kSharedBlockIds));
  for (size_t id = 1; id < sums.size(); ++id) {
    sums[id] += signal_safe::ReadRelaxed(shared_->counts[id]);
  }
  StateRecycler(arena).ForEachLive([&](signal_safe::ThreadState& state) { AddOwn(state, sums); });
  return sums;
}

void BlockCounters::Free(const signal_safe::ThreadState& state) {
  // Those of flat counters are part of the state.
  const uint64_t end_of_all = shared_address() + shared_->limit * sizeof(signal_safe::OwnBlocks);
  if (!HasOwn(state) || state.blocks < shared_address() || state.blocks >= end_of_all) return;
  auto& own = *reinterpret_cast<signal_safe::OwnBlocks*>(state.blocks);
  // Zeroed without writing to pages that were never touched; the first and the last are shared.
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (state.blocks + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (state.blocks + sizeof own) & ~(kPage - 1);
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0) {
    std::memset(&own, 0, begin - state.blocks);
    std::memset(reinterpret_cast<void*>(end), 0, state.blocks + sizeof own - end);
  } else {
    std::memset(&own, 0, sizeof own);
  }
  const uint64_t number = (state.blocks - shared_address()) / sizeof own;
  std::atomic_ref<uint64_t> free(shared_->free);
  uint64_t head = free.load(std::memory_order_relaxed);
  do {
    signal_safe::WriteRelaxed(own.counts[0], head & 0xFFFFFFFF);
  } while (!free.compare_exchange_weak(head, (head & ~0xFFFFFFFFull) | number));
}

std::vector<RoutineUpdate> UnplacedCounts::Collect(uint32_t routine_limit) {
  std::vector<RoutineUpdate> updates;
  if (ReadRelaxed(arena_->lost) == 0) return updates;
  const uint32_t limit = std::min(routine_limit, signal_safe::kMaxRoutines);
  if (known_.size() < limit) known_.resize(limit);
  for (uint32_t routine = 0; routine < limit; ++routine) {
    const signal_safe::FlatCounter& counter = arena_->shared.counters[routine];
    const uint64_t total = ReadRelaxed(counter.jitted) + ReadRelaxed(counter.interpreted);
    Known& known = known_[routine];
    if (total == known.reported) continue;
    updates.push_back({routine, total - known.baseline, 0});
    calls_ += total - known.reported;
    known.reported = total;
  }
  return updates;
}

void UnplacedCounts::BeginFile() {
  for (Known& known : known_) known.baseline = known.reported;
}

void UnplacedCounts::BeginRecording() {
  Collect(static_cast<uint32_t>(known_.size()));
  calls_ = 0;
  BeginFile();
}

void PathCounts::Add(const PathCounts& other) {
  unkept |= other.unkept;
  for (const OfCode& from : other.codes) {
    const auto into = std::find_if(codes.begin(), codes.end(),
                                   [&](const OfCode& it) { return it.first == from.first; });
    if (into == codes.end()) {
      codes.push_back(from);
      continue;
    }
    for (size_t i = 0; i < into->counts.size(); ++i) into->counts[i] += from.counts[i];
  }
}

void PathBlocks::Request(bool ends_file) {
  is_due_ = true;
  ends_file_ = ends_file;
}

void PathBlocks::ReadAll(const Node& node) {
  reading_ = {};
  const signal_safe::NodeBlocks& blocks = BlocksOf(node);
  const uint64_t recording = counters_.first_of_recording();
  const auto found = baselines_.find(signal_safe::RefOf(arena_, &node));
  const std::vector<uint64_t>* baseline = found != baselines_.end() ? &found->second : nullptr;
  ForEachSet(arena_, blocks.set, [&](const BlockSet& set, uint64_t range) {
    const auto* counts = reinterpret_cast<const uint64_t*>(signal_safe::ReadRelaxed(set.counts));
    PathCounts::OfCode code = {.first = static_cast<uint32_t>(range), .counts = {}};
    const size_t begin = reading_.values.size();
    const bool has_baseline =
        baseline != nullptr && begin < baseline->size() && (*baseline)[begin] == code.first;
    reading_.values.push_back(code.first);
    reading_.sum += MarkOf(code.first);
    for (uint32_t i = 0; i < SizeOf(range); ++i) {
      const uint64_t value = signal_safe::ReadRelaxed(counts[i]);
      const size_t at = reading_.values.size();
      code.counts.push_back(value - (has_baseline ? (*baseline)[at] : 0));
      reading_.values.push_back(value);
      reading_.sum += value;
    }
    if (code.first >= recording && AnyCount(code)) reading_.counts.codes.push_back(std::move(code));
  });
  reading_.counts.unkept = signal_safe::ReadRelaxed(blocks.set.unkept) != 0;
  reading_.sum += reading_.counts.unkept ? 1 : 0;
}

void PathBlocks::KeepAsBaseline(const Node& node) {
  if (reading_.values.empty()) return;
  baselines_[signal_safe::RefOf(arena_, &node)] = reading_.values;
}

bool PathBlocks::Read(const Node& node) {
  ReadAll(node);
  const bool changed = reading_.sum != BlocksOf(node).reported;
  if (ends_file_ && !changed) KeepAsBaseline(node);
  return changed;
}

void PathBlocks::Report(Node& node, uint32_t number) {
  if (!reading_.counts.empty()) updates_.push_back({number, reading_.counts});
  const_cast<signal_safe::NodeBlocks&>(BlocksOf(node)).reported = reading_.sum;
  if (ends_file_) KeepAsBaseline(node);
}

bool PathBlocks::HasNew(const Node& node) {
  ReadAll(node);
  return !reading_.counts.empty();
}

void PathBlocks::AddToGroup(const Node& node, uint32_t number) {
  GroupSum& sum = groups_[number];
  // A flag alone changes nothing.
  sum.changed |= !reading_.counts.codes.empty() || !sum.counts.unkept;
  sum.counts.Add(reading_.counts);
  KeepAsBaseline(node);
}

PathCounts PathBlocks::Take(const Node& node) {
  ReadAll(node);
  Forget(node);
  return std::move(reading_.counts);
}

void PathBlocks::SetBaseline(Node& node) {
  ReadAll(node);
  KeepAsBaseline(node);
  const_cast<signal_safe::NodeBlocks&>(BlocksOf(node)).reported = reading_.sum;
}

std::vector<PathUpdate> PathBlocks::TakeUpdates() {
  for (auto& [number, sum] : groups_) {
    if (std::exchange(sum.changed, false)) updates_.push_back({number, sum.counts});
  }
  std::stable_sort(updates_.begin(), updates_.end(),
                   [](const PathUpdate& a, const PathUpdate& b) { return a.node < b.node; });
  return std::exchange(updates_, {});
}

uint64_t PathBlocks::BytesOf(const Node& node) const {
  const signal_safe::NodeBlocks& blocks = BlocksOf(node);
  uint64_t bytes = 0;
  ForEachSet(arena_, blocks.set, [&](const BlockSet& set, uint64_t range) {
    const uint64_t counts = SizeOf(range) * sizeof(uint64_t);
    if (&set != &blocks.set) bytes += sizeof set + counts;
    if (&set == &blocks.set && SizeOf(range) > signal_safe::kNodeBlocks) bytes += counts;
  });
  return bytes;
}

}  // namespace jtrace::calls
