// blocks=on: numbers counters of blocks, and reads them while they are incremented.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/calls/flat_collector.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// The counters of one probe class. The shared ones stay mapped forever: compiled code has their
// address.
class BlockCounters {
 public:
  // Reserves address space for the shared counters and those of threads; `by_path` (blocks=paths):
  // for owners instead of the latter. Error: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<BlockCounters>> Reserve(bool by_path);
  BlockCounters(const BlockCounters&) = delete;
  BlockCounters& operator=(const BlockCounters&) = delete;

  // For the probe class, and the states of threads without memory.
  uint64_t shared_address() const { return reinterpret_cast<uintptr_t>(shared_->counts); }
  // blocks=paths: of signal_safe::BlockOwner, by id.
  uint64_t owners_address() const { return reinterpret_cast<uintptr_t>(owners_); }
  bool is_by_path() const { return owners_ != nullptr; }

  // blocks=paths: the ids that a method has taken belong to it. Before its code runs.
  void SetOwner(uint32_t first, uint32_t count, uint32_t routine, bool is_leaf);
  // The ids taken so far are those of earlier recordings: the probes may give their memory to
  // others. On a thread that begins a recording.
  void BeginRecording();
  uint64_t first_of_recording() const { return signal_safe::ReadRelaxed(shared_->recording); }
  // Call paths of this recording for whose counters there was no memory.
  uint64_t unkept() const { return signal_safe::ReadRelaxed(shared_->unkept); }

  // The first of `count` new ids in a row. Any thread.
  uint32_t Take(uint32_t count) { return next_.fetch_add(count, std::memory_order_relaxed); }
  // Whether a class may still take ids.
  bool HasRoom() const {
    return next_.load(std::memory_order_relaxed) < signal_safe::kSharedBlockIds - kMostOfAClass;
  }

  // On the writer thread.

  // The thread has ended and its state is about to be released.
  void AddEnded(const signal_safe::ThreadState& state) { AddOwn(state, ended_); }
  // The counts of all ids taken so far, over all threads, by id.
  std::vector<uint64_t> Collect(signal_safe::Arena* arena) const;
  // Nothing refers to the state's counters any more: another thread may get them.
  void Free(const signal_safe::ThreadState& state);

 private:
  // As many instructions as the methods of a class can have.
  static constexpr uint32_t kMostOfAClass = 4'000'000;

  BlockCounters(signal_safe::SharedBlocks* shared, uint64_t* owners)
      : shared_(shared), owners_(owners) {}
  void AddOwn(const signal_safe::ThreadState& state, std::vector<uint64_t>& sums) const;

  bool HasOwn(const signal_safe::ThreadState& state) const {
    return state.blocks != 0 && state.blocks != shared_address();
  }

  signal_safe::SharedBlocks* const shared_;
  uint64_t* const owners_;  // null: not by path
  std::atomic<uint32_t> next_{1};
  std::vector<uint64_t> ended_;  // by id
};

// Calls of threads for which there was no memory at all: exact, but by routine only. On the writer
// thread only.
class UnplacedCounts {
 public:
  explicit UnplacedCounts(const signal_safe::Arena* arena) : arena_(arena) {}

  // Those below `routine_limit` that changed since the last time, totals of the file.
  std::vector<RoutineUpdate> Collect(uint32_t routine_limit);
  void BeginFile();
  void BeginRecording();
  // Calls of the recording.
  uint64_t calls() const { return calls_; }

 private:
  struct Known {
    uint64_t reported = 0;
    uint64_t baseline = 0;
  };
  const signal_safe::Arena* arena_;
  std::vector<Known> known_;  // by routine
  uint64_t calls_ = 0;
};

// The counters of blocks at tree nodes (blocks=paths), read while they are incremented.

// The counts at one node.
struct PathCounts {
  // Those of one version of the method's code, in the order of its counters.
  struct OfCode {
    uint32_t first = 0;  // id of the first counter
    std::vector<uint64_t> counts;
  };
  std::vector<OfCode> codes;
  // For some there was no memory: they are counted by method.
  bool unkept = false;

  bool empty() const { return codes.empty() && !unkept; }
  void Add(const PathCounts& other);
};

// Totals of the file at a node.
struct PathUpdate {
  uint32_t node = 0;  // number in the trace
  PathCounts counts;
};

// On the writer thread only.
//
// Counts are written rarely, because there are many: they are due when Request was called before a
// round of collecting. What earlier files, or the tree of the thread's group, have is the node's
// baseline, which is here and not in the node, because most nodes have none.
class PathBlocks {
 public:
  // `offset`: of signal_safe::NodeBlocks in a node.
  PathBlocks(const signal_safe::Arena* arena, uint64_t offset, const BlockCounters& counters)
      : arena_(arena), offset_(offset), counters_(counters) {}

  // The next round reports all changes; `ends_file`: and the next counts are those of another file.
  void Request(bool ends_file);
  void EndRound() { is_due_ = ends_file_ = false; }
  bool is_due() const { return is_due_; }
  // Returns what it was before.
  bool SetDue(bool due) { return std::exchange(is_due_, due); }

  // Reads a node whose counts are due; false if they are as they were reported.
  bool Read(const signal_safe::Node& node);
  // Reports what Read has read.
  void Report(signal_safe::Node& node, uint32_t number);
  // Adds what is new at a group member's node to the group's; `number` is that node's in the trace.
  // False if nothing is new.
  bool HasNew(const signal_safe::Node& node);
  void AddToGroup(const signal_safe::Node& node, uint32_t number);
  // The node is dropped: its counts in this file.
  PathCounts Take(const signal_safe::Node& node);
  // A sum of dropped nodes.
  void ReportSum(uint32_t number, const PathCounts& counts) {
    updates_.push_back({number, counts});
  }
  // Earlier counts belong to no file.
  void SetBaseline(signal_safe::Node& node);
  void Forget(const signal_safe::Node& node) {
    baselines_.erase(signal_safe::RefOf(arena_, &node));
  }
  bool has_baselines() const { return !baselines_.empty(); }
  void BeginFile() { groups_.clear(); }

  // Since the last time. Their nodes are defined, or will be in this chunk.
  std::vector<PathUpdate> TakeUpdates();

  // Memory of the node's counters outside of it.
  uint64_t BytesOf(const signal_safe::Node& node) const;

 private:
  struct GroupSum {
    PathCounts counts;
    bool changed = false;
  };

  // All of a node in the order of its sets.
  struct Reading {
    PathCounts counts;  // of this recording
    // All, also those that earlier recordings left: of each set its first id, then its counts.
    std::vector<uint64_t> values;
    uint64_t sum = 0;  // shows whether one has changed
  };
  const signal_safe::NodeBlocks& BlocksOf(const signal_safe::Node& node) const {
    return *reinterpret_cast<const signal_safe::NodeBlocks*>(reinterpret_cast<const char*>(&node) +
                                                             offset_);
  }
  // Fills in reading_: since the baseline.
  void ReadAll(const signal_safe::Node& node);
  void KeepAsBaseline(const signal_safe::Node& node);

  const signal_safe::Arena* arena_;
  const uint64_t offset_;
  const BlockCounters& counters_;
  bool is_due_ = false;
  bool ends_file_ = false;
  Reading reading_;
  absl::flat_hash_map<signal_safe::Ref, std::vector<uint64_t>> baselines_;
  absl::flat_hash_map<uint32_t, GroupSum> groups_;  // by number in the trace
  std::vector<PathUpdate> updates_;
};

}  // namespace jtrace::calls
