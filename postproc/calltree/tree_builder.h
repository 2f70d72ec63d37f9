// Builds the call tree from the record stream (FORMATS §1, "Time" and "Roots"; S3.12, S3.16).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/chain_merger.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// Counters of blocks, where OnNode met them.
struct PlacedBlocks {
  NodeId node;
  uint32_t trace = 0;  // index into TraceModel::traces
  NodeBlocks blocks;
};

// A thread's tree and the number of its samples.
struct ThreadSummary {
  ThreadId thread;
  NodeId root;
  int64_t samples = 0;  // sample records
};

// --aggregate=: a tree for each thread, for the threads of the same name pattern, or for each
// process.
enum class Aggregate : uint8_t { kThread, kGroup, kProcess };

class TreeBuilder : public RecordVisitor {
 public:
  // Threads of a trace that share a root: it is named for the process, or for the pattern of their
  // names.
  TreeBuilder(MergeMode mode, Aggregate aggregate, TraceModel& model, ImportStats& stats);

  void OnEnter(At at, RoutineId routine, CodeKind kind) override;
  void OnExit(At at, RoutineId routine, CodeKind kind) override;
  void OnCalls(ThreadId thread, absl::Span<const CallRecord> calls) override;
  void OnReducedCalls(ThreadId thread, const ReducedCalls& calls,
                      absl::FunctionRef<void(RecordVisitor&)> one_by_one) override;
  void OnDropped(At at, int64_t events) override;
  void OnPosition(At at, absl::Span<const PathStep> path, size_t shared) override;
  void OnSample(At at, const SampleRecord& sample) override;
  void OnSwitch(At at, bool on) override;
  void OnMetric(At at, MetricId metric, int64_t delta) override;
  void OnNode(At at, const NodeCounts& counts, absl::Span<const PathStep> path,
              size_t shared) override;
  void OnHook(At at, const HookRecord& hook) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  // Call once after the last record: activations that are still open count with their time so far.
  void Finish();

  const CallTree& tree() const { return tree_; }
  // blocks=paths
  const std::vector<PlacedBlocks>& blocks() const { return blocks_; }
  // Of what is derived from them.
  void AddMetric(NodeId node, MetricId metric, int64_t value) {
    tree_.AddMetric(node, metric, value);
  }
  // The node of a routine whose callers are not known, in a tree of its own.
  NodeId NodeWithoutPath(RoutineId routine);
  const MergeStats& merge_stats() const { return merger_.stats(); }
  // Threads, or what shares a root, in the order of their roots.
  std::vector<ThreadSummary> Threads() const;
  int64_t first_time() const { return first_time_.value_or(0); }
  int64_t last_time() const { return last_time_; }

 private:
  static constexpr size_t kStepsPerRecord = 16;
  static constexpr size_t kFreeSteps = 1 << 22;
  struct ThreadState {
    ThreadId thread;
    NodeId root;
    std::vector<NodeId> open;        // activations, outermost first
    std::vector<int64_t> open_base;  // their base so far, the root's first
    size_t kept = 0;                 // how many of them have been open since the last position
    int64_t clock = 0;               // nodes have got the time up to here
    bool switched = false;           // off, or has been since `clock`
    bool off = false;                // since switch_time
    int64_t switch_time = 0;         // of the last switch, or a later event
    int64_t off_before = 0;          // between `clock` and switch_time
    int64_t samples = 0;
    FrameMatcher matcher;  // of `open`
  };

  ThreadState& StateOf(At at);
  NodeId RootFor(ThreadId thread);
  NodeId RootOfProcess(uint32_t trace);
  NodeId RootOfGroup(ThreadId thread);
  bool HasLog(ThreadId thread) const;
  void AdvanceClock(ThreadState& state, int64_t time);
  int64_t TakeOff(ThreadState& state, int64_t passed);
  void Enter(ThreadState& state, RoutineId routine, CodeKind kind);
  void Exit(ThreadState& state, RoutineId routine);
  void CloseDownTo(ThreadState& state, RoutineId routine);
  // The first event that enters a node.
  void BecomeEvent(NodeId id);
  // Whether the calls end the activations that they assume, and all their time is on a processor.
  bool Fits(const ThreadState& state, const ReducedCalls& calls) const;
  void AddReducedNodes(const ThreadState& state, const ReducedCalls& calls);
  void EndReduced(ThreadState& state, const ReducedCalls& calls);
  NodeId Current(const ThreadState& state) const {
    return state.open.empty() ? state.root : state.open.back();
  }
  void CloseInnermost(ThreadState& state);
  // The nodes of an event path, created if necessary; the first `shared` are those of the path
  // before.
  void FindPath(NodeId root, absl::Span<const PathStep> path, size_t shared);

  const Aggregate aggregate_;
  const RoutineId dropped_;
  TraceModel& model_;
  ImportStats& stats_;
  CallTree tree_;
  ChainMerger merger_;
  std::vector<ThreadState> states_;    // in the order of appearance
  std::vector<uint32_t> state_of_;     // by thread: index into states_ + 1
  std::vector<NodeId> root_of_trace_;  // of processes
  struct Group {
    NodeId root;
    bool has_name = false;  // the root's thread is not the first member any more
  };
  absl::flat_hash_map<std::pair<uint32_t, std::string>, Group> groups_;  // by trace and name
  // FindPath's result and its argument: successive paths share their beginnings.
  std::vector<NodeId> path_nodes_;
  std::vector<PathStep> path_steps_;
  NodeId path_root_;
  absl::flat_hash_map<NodeId, std::unique_ptr<FrameMatcher>> path_matchers_;  // by root
  std::vector<PlacedBlocks> blocks_;
  ThreadId without_path_;
  std::vector<NodeId> reduced_nodes_;  // of the ReducedCalls in hand; reused
  size_t position_room_ = kFreeSteps;  // how much positions may still compare and open
  std::optional<int64_t> first_time_;
  int64_t last_time_ = 0;
};

[[gnu::always_inline]] inline void TreeBuilder::AdvanceClock(ThreadState& state, int64_t time) {
  const int64_t passed = WrapSub(time, state.clock);
  if (passed == 0) return;
  state.clock = time;
  const NodeId current = Current(state);
  const int64_t off = state.switched ? TakeOff(state, passed) : 0;
  if (tree_.waits_for_user(current)) return tree_.AddOff(current, passed);
  tree_.AddOff(current, off);
  const int64_t on = WrapSub(passed, off);
  tree_.AddBase(current, on);
  state.open_base.back() = WrapAdd(state.open_base.back(), on);
}

[[gnu::always_inline]] inline void TreeBuilder::CloseInnermost(ThreadState& state) {
  tree_.AddExtremes(Current(state), state.open_base.back(), state.open_base.back());
  state.open_base.pop_back();
  if (!state.open.empty()) state.open.pop_back();
  state.kept = std::min(state.kept, state.open.size());
}

}  // namespace jtrace::postproc
