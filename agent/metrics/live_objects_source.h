// Writes live and freed objects by the call paths that allocated them into a chunk. Writer thread
// only.
//
// It defines nodes of its own, with the same paths as nodes of the threads' trees: an object may
// die long after its thread ended, its node was pruned, or the file that defined the node ended
// (loop=). Objects that belong to no tree count for [process], so the sum is that of all objects.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/btree_map.h"
#include "agent/calls/trees/tree_source.h"
#include "agent/jvm/thread_registry.h"
#include "agent/jvm/thread_tree_groups.h"
#include "agent/metrics/allocation_paths.h"
#include "agent/metrics/metric.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::metrics {

class LiveObjectsSource : public trace::ChunkSource {
 public:
  struct Settings {
    std::vector<metrics::Metric> metrics;  // of metrics::kTaggedObjectMetrics, at most kMaxMetrics
    // Returns a number that no node of the trace has.
    std::function<uint32_t()> next_node;
    calls::FindCallSite find_call_site = nullptr;  // as TreeSource
  };
  static constexpr size_t kMaxMetrics = 4;

  LiveObjectsSource(const metrics::AllocationPaths& paths, jvm::ThreadRegistry& threads,
                    jvm::ThreadTreeGroups& groups, trace::RecordEncoder& encoder, Losses& losses,
                    Settings settings)
      : paths_(paths),
        threads_(threads),
        groups_(groups),
        encoder_(encoder),
        losses_(losses),
        settings_(std::move(settings)) {}
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  using Path = metrics::AllocationPaths::Path;
  using Owner = metrics::AllocationPaths::Owner;
  using Values = std::array<int64_t, kMaxMetrics>;  // in the order of Settings::metrics
  class Rows;                                       // the delta of a thread
  using Threads = absl::btree_map<uint32_t, Rows>;

  struct Node {
    uint32_t number = 0;                 // in the trace; 0: none yet
    bool is_defined = false;             // in this file
    metrics::ObjectCounts freed;         // as last read
    metrics::ObjectCounts freed_before;  // in earlier files
    Values reported = {};                // in this file
  };

  struct TraceNode {
    uint32_t thread = 0;
    uint32_t number = 0;  // of the node; 0: the thread's root
  };

  void AddRoots(Threads& threads);
  void AddPaths(Threads& threads);
  Rows& RowsOf(uint32_t thread, Threads& threads);
  // Writes the values that differ from `reported`, and updates that.
  void Report(const TraceNode& node, const Values& values, Values& reported, Threads& threads);
  // Returns the path's values in this file.
  Values Read(uint32_t path);
  void Define(uint32_t path, Rows& rows);
  void DefineOne(uint32_t path, Rows& rows);
  uint32_t ThreadOf(size_t owner);
  uint32_t Process() { return groups_.NumberOfGroup(groups_.Process()); }

  const metrics::AllocationPaths& paths_;
  jvm::ThreadRegistry& threads_;
  jvm::ThreadTreeGroups& groups_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  const Settings settings_;
  std::vector<Path> known_;
  std::vector<Owner> owners_;
  std::vector<Node> nodes_;          // by path
  std::vector<uint32_t> thread_of_;  // by owner: its number in this file; 0: not asked for yet
  absl::btree_map<uint32_t, Values> roots_;  // by thread, as reported in this file
  proto::Chunk* chunk_ = nullptr;            // in AddChanges
  std::vector<uint32_t> routines_;           // of the nodes defined in this AddChanges
};

}  // namespace jtrace::metrics
