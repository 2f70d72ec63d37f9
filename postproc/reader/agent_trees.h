// The trees and flat counts that an agent kept, by their last totals (proto/FORMAT.md, "Trees").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "common/call_site.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/support/columns.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

// Finds items by the numbers that a trace gives them. A writer counts them up, so that an array is
// enough; numbers far beyond the count of items, which only a damaged or hostile trace has, are in
// a map.
class NumberIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The index of an item, or kNone.
  uint32_t Find(uint32_t number) const {
    if (number < dense_.size() && dense_[number] != 0) return dense_[number] - 1;
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? kNone : found->second;
  }
  // `index`: the count of items before; the number is new.
  void Add(uint32_t number, uint32_t index) {
    if (number >= dense_.size()) {
      const size_t most = kFew + kMostPerItem * (size_t{index} + 1);
      if (number >= most) {
        sparse_[number] = index;
        return;
      }
      dense_.resize(number + size_t{1});
    }
    dense_[number] = index + 1;
  }

 private:
  // Threads may get blocks of numbers.
  static constexpr size_t kFew = size_t{1} << 16;
  static constexpr size_t kMostPerItem = 4;

  std::vector<uint32_t> dense_;  // by number: index + 1; 0: none, or in sparse_
  absl::flat_hash_map<uint32_t, uint32_t> sparse_;
};

// A node of an agent's tree with its totals.
struct TreeNode {
  uint32_t thread = 0;
  uint32_t parent = 0;           // 0: the thread's root
  uint32_t routine = 0;          // Routine.id; 0: [pruned]; kLostRoutine
  bool lost = false;             // its parent was never defined
  CallSite place = kNoCallSite;  // in the parent's routine
  NodeCounts counts;
};

// In place of a Routine.id: the node has totals, but the chunk that defined it was lost.
inline constexpr uint32_t kLostRoutine = UINT32_MAX;

// Nodes are columns by rank: the order of their definition, in which parents come first. What is
// kept of a dropped node is its thread and the way to those above it.
class AgentTrees {
 public:
  using TextOf = absl::FunctionRef<std::string(uint32_t string)>;

  AgentTrees(TraceModel& model, ImportStats& stats) : model_(model), stats_(stats) {}

  void Add(const proto::TreeDelta& delta, TextOf text_of);

  // In the order of their definition: parents first. Nodes that were dropped later are not
  // included: [pruned] nodes have their counts.
  std::vector<uint32_t> node_order() const;
  // The same nodes thread by thread, each followed by its children: each path differs from the one
  // before only at its end. Siblings and threads in the order of their definition. level 0: below
  // the thread's root. `it` is filled anew for each node.
  using Visit = absl::FunctionRef<void(uint32_t node, TreeNode& it, uint32_t level)>;
  void DepthFirst(Visit visit);
  // None if it was never defined, or dropped.
  std::optional<TreeNode> FindNode(uint32_t node) const;
  // The node itself or the nearest one above it that was not dropped; 0 at the root.
  uint32_t KeptNode(uint32_t node);
  // The thread whose tree contains or contained the node; none if it was never defined.
  std::optional<uint32_t> ThreadOf(uint32_t node) const;

  // record=flat: totals by thread and routine, in the order of first appearance.
  struct FlatCount {
    uint32_t thread = 0;
    uint32_t routine = 0;
    uint64_t calls = 0;
    uint64_t jitted = 0;
  };
  const std::vector<FlatCount>& flat() const { return flat_; }

  // Counts of threads outside of any node: only metrics. In the order of first appearance.
  struct RootCounts {
    uint32_t thread = 0;
    NodeCounts counts;
  };
  const std::vector<RootCounts>& roots() const { return roots_; }

  // Threads that were counted in the tree of this one; 0 for a thread's own tree.
  uint64_t FoldedThreads(uint32_t thread) const;
  // Σ calls over everything.
  uint64_t TotalCalls() const;

 private:
  static constexpr uint32_t kNone = NumberIndex::kNone;
  enum Flag : uint8_t { kIsLost = 1, kIsDropped = 2 };
  // The nodes below each one, as lists. Parents are resolved: none was dropped.
  struct Lists;

  uint32_t Append(uint32_t id, const TreeNode& node);
  void AddNewNodes(const proto::TreeDelta& delta);
  void AddTotals(const proto::TreeDelta& delta);
  void AddMetrics(const proto::TreeDelta& delta, TextOf text_of);
  NodeCounts& RootOf(uint32_t thread);
  void AddPruned(const proto::TreeDelta& delta);
  void AddFlat(const proto::TreeDelta& delta);
  void NoteUndefined(uint32_t node);
  bool IsDropped(uint32_t rank) const { return (flags_[rank] & kIsDropped) != 0; }
  // By rank; kNone: the root.
  uint32_t KeptRank(uint32_t rank);
  void Fill(uint32_t rank, TreeNode& node) const;
  void SkipDropped();
  Lists MakeLists() const;
  void VisitTree(const Lists& lists, uint32_t top, Visit visit) const;

  TraceModel& model_;
  ImportStats& stats_;
  NumberIndex rank_of_;  // by the node's number
  // By rank.
  std::vector<uint32_t> ids_;
  std::vector<uint32_t> threads_;
  std::vector<uint32_t> parents_;  // rank; kNone: the thread's root
  std::vector<uint32_t> routines_;
  std::vector<CallSite> places_;  // as far as any is known
  std::vector<uint8_t> flags_;
  NarrowColumn calls_, jitted_, base_, off_, min_, max_;
  absl::flat_hash_map<uint32_t, NodeMetrics> metrics_;
  std::vector<FlatCount> flat_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, size_t> flat_index_;
  std::vector<RootCounts> roots_;
  absl::flat_hash_map<uint32_t, size_t> root_index_;  // by thread
  absl::flat_hash_map<uint32_t, uint64_t> folded_threads_;
};

}  // namespace jtrace::postproc
