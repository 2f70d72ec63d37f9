// blocks=paths: reads the counters of blocks at tree nodes while they are incremented.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/calls/block_counters.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

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

// Counts are written rarely, because there are many: they are due when Request was called before a
// round of collecting. What earlier files, or the tree of the thread's group, have is the node's
// baseline, which is here and not in the node, because most nodes have none. Without blocks=paths
// nothing is ever due, and no node is read. On the writer thread only.
class PathBlocks {
 public:
  // `offset`: of signal_safe::NodeBlocks in a node. `counters`: null: nodes have none.
  PathBlocks(const signal_safe::Arena* arena, uint64_t offset, const BlockCounters* counters)
      : arena_(arena), offset_(offset), counters_(counters) {}

  bool is_on() const { return counters_ != nullptr; }

  // The next round reports all changes; `ends_file`: and the next counts are those of another file.
  void Request(bool ends_file);
  void EndRound() { is_due_ = ends_file_ = false; }
  bool is_due() const { return is_due_; }
  // Returns what it was before.
  bool SetDue(bool due) { return std::exchange(is_due_, due && is_on()); }

  // Reads a node whose counts are due; false if they are as they were reported.
  bool Read(const signal_safe::Node& node);
  // Reports what Read has read.
  void Report(signal_safe::Node& node, uint32_t number);
  // Adds what is new at a group member's node to the group's; `number` is that node's in the trace.
  // False if nothing is new.
  bool HasNew(const signal_safe::Node& node);
  void AddToGroup(const signal_safe::Node& node, uint32_t number);
  // The node is dropped: its counts in this file.
  PathCounts Remove(const signal_safe::Node& node);
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
  std::vector<PathUpdate> RemoveUpdates();

  // Memory of the node's counters outside of it.
  uint64_t BytesOf(const signal_safe::Node& node) const { return is_on() ? BytesOfSets(node) : 0; }

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
  uint64_t BytesOfSets(const signal_safe::Node& node) const;

  const signal_safe::Arena* const arena_;
  const uint64_t offset_;
  const BlockCounters* const counters_;
  bool is_due_ = false;
  bool ends_file_ = false;
  Reading reading_;
  absl::flat_hash_map<signal_safe::Ref, std::vector<uint64_t>> baselines_;
  absl::flat_hash_map<uint32_t, GroupSum> groups_;  // by number in the trace
  std::vector<PathUpdate> updates_;
};

}  // namespace jtrace::calls
