// blocks=paths: reads the counters of blocks at tree nodes while they are incremented.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/calls/trees/basic_block_counters.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// The counts at one node.
struct PathCounts {
  // The counts of one version of the method's code, in the order of its counters.
  struct OfCode {
    uint32_t first = 0;  // id of the first counter
    std::vector<uint64_t> counts;
  };
  std::vector<OfCode> codes;
  // For some counters there was no memory: their blocks are counted by method only.
  bool out_of_memory = false;

  bool empty() const { return codes.empty() && !out_of_memory; }
  void Add(const PathCounts& other);
};

// A node's totals in the file.
struct PathUpdate {
  uint32_t node = 0;  // number in the trace
  PathCounts counts;
};

// Counts are written rarely, because there are many: they are due when Request was called before a
// round of collecting. What earlier files, or the tree of the thread's group, have is the node's
// baseline, which is here and not in the node, because most nodes have none. Without blocks=paths
// nothing is ever due, and no node is read. On the writer thread only.
class PathBlocks {
 public:
  // `offset`: of signal_safe::NodeBlocks in a node. `counters`: null: nodes have none.
  PathBlocks(const signal_safe::Arena* arena, uint64_t offset, const BasicBlockCounters* counters)
      : arena_(arena), offset_(offset), counters_(counters) {}

  bool is_on() const { return counters_ != nullptr; }

  // Makes counts due in the next round. `ends_file`: later counts are those of another file.
  void Request(bool ends_file);
  void EndRound() { is_due_ = ends_file_ = false; }
  bool is_due() const { return is_due_; }
  // Returns whether counts were due before.
  bool SetDue(bool due) { return std::exchange(is_due_, due && is_on()); }

  // Reads a node whose counts are due. Returns whether they changed since they were reported.
  bool Read(const signal_safe::Node& node);
  // Reports what Read has read.
  void Report(signal_safe::Node& node, uint32_t number);
  // HasNew reads a group member's node and returns whether it has new counts. AddToGroup adds these
  // to the group's node, which has that `number` in the trace.
  bool HasNew(const signal_safe::Node& node);
  void AddToGroup(const signal_safe::Node& node, uint32_t number);
  // Returns the counts in this file of a node that is dropped, and forgets the node.
  PathCounts Remove(const signal_safe::Node& node);
  // Reports the counts of a sum of dropped nodes (PrunedTotals).
  void ReportSum(uint32_t number, const PathCounts& counts) {
    updates_.push_back({number, counts});
  }
  // Makes the node's present counts its baseline: they belong to no file.
  void SetBaseline(signal_safe::Node& node);
  void Forget(const signal_safe::Node& node) {
    baselines_.erase(signal_safe::RefOf(arena_, &node));
  }
  bool has_baselines() const { return !baselines_.empty(); }
  void BeginFile() { groups_.clear(); }

  // Returns the updates since the last call. This chunk or an earlier one defines their nodes.
  std::vector<PathUpdate> RemoveUpdates();

  // Bytes of the node's counters that are not in the node itself.
  uint64_t BytesOf(const signal_safe::Node& node) const { return is_on() ? BytesOfSets(node) : 0; }

 private:
  struct GroupSum {
    PathCounts counts;
    bool changed = false;
  };

  // The counters of a node in the order of its sets.
  struct Reading {
    PathCounts counts;  // of this recording, since the baseline
    // For each set its first id, then its counts, also for sets that earlier recordings left.
    std::vector<uint64_t> values;
    uint64_t sum = 0;  // shows whether one has changed
  };
  const signal_safe::NodeBlocks& BlocksOf(const signal_safe::Node& node) const {
    return *reinterpret_cast<const signal_safe::NodeBlocks*>(reinterpret_cast<const char*>(&node) +
                                                             offset_);
  }
  // Reads all counters of the node into reading_.
  void ReadAll(const signal_safe::Node& node);
  void KeepAsBaseline(const signal_safe::Node& node);
  uint64_t BytesOfSets(const signal_safe::Node& node) const;

  const signal_safe::Arena* const arena_;
  const uint64_t offset_;
  const BasicBlockCounters* const counters_;
  bool is_due_ = false;
  bool ends_file_ = false;
  Reading reading_;
  absl::flat_hash_map<signal_safe::Ref, std::vector<uint64_t>> baselines_;
  absl::flat_hash_map<uint32_t, GroupSum> groups_;  // by number in the trace
  std::vector<PathUpdate> updates_;
};

}  // namespace jtrace::calls
