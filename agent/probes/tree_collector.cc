#include "agent/probes/tree_collector.h"

#include <algorithm>
#include <utility>

#include "agent/probes/node_state.h"

namespace jtrace {
namespace {

using hot::At;
using hot::Node;
using hot::Ref;
using hot::ThreadState;

// ThreadState::group; else the index of the group's root in the forest, plus 1.
constexpr uint32_t kUndecided = 0;
constexpr uint32_t kOwnTree = 1;

// A [pruned] node that every thread has, and that has counted nothing yet.
bool IsUnused(const Node& node, const Counts& counts) {
  return node.routine == hot::kPrunedRoutine && counts.calls == 0 && node.collected == kUnseen;
}

}  // namespace

TreeCollector::TreeCollector(hot::Arena* arena, GroupOf group_of, const TickScale* scale,
                             hot::ProbeClock clock, const TreeLimits& limits,
                             const PathMetrics& metrics)
    : arena_(arena),
      values_(arena, scale, clock, metrics),
      group_of_(std::move(group_of)),
      states_(arena),
      nodes_(arena, values_.node_bytes()),
      limits_(limits),
      forest_(limits.groups_bytes / (2 * sizeof(GroupForest::Node))),
      percent_(limits.prune_percent),
      pruned_(limits.arena_bytes / 6),
      unplaced_(arena) {}

void TreeCollector::Poll() {
  nodes_.FreeRetired();
  states_.FreeRetired();
  TakeEnded();
}

void TreeCollector::TakeEnded() {
  states_.TakeEnded([this](ThreadState& state) {
    if (IsGrouped(state)) {
      FoldTree(state);
      Retire(state);
    } else {
      ended_.push_back(&state);
    }
  });
}

void TreeCollector::ForEachThread(absl::FunctionRef<void(ThreadState&)> visit) {
  for (ThreadState* state : ended_) visit(*state);
  states_.ForEachLive(visit);
}

void TreeCollector::Retire(ThreadState& state) {
  if (watcher_ != nullptr) watcher_->OnThreadGone(state);
  if (!pruned_.empty()) {
    ForEachNode(state, [&](Node& node) { pruned_.Erase(hot::RefOf(arena_, &node)); });
    pruned_.Erase(state.root);
  }
  victims_.erase(&state);
  states_.Retire(state);
}

void TreeCollector::Collect(VisitUpdate visit, bool reports_aged) {
  reports_aged_ = reports_aged;
  TakeEnded();
  for (ThreadState* state : ended_) {
    if (on_thread_end_) on_thread_end_(*state);
    const bool reported_all = std::exchange(reports_all_, true);
    CollectTree(*state, visit);
    reports_all_ = reported_all;
    visit({.java_tid = state->tid, .ended = true, .root = ReadRoot(*state), .nodes = updates_});
    Retire(*state);
  }
  ended_.clear();
  states_.ForEachLive([&](ThreadState& state) {
    if (IsGrouped(state)) {
      FoldTree(state);
    } else {
      CollectTree(state, visit);
      const bool root_changed = values_.MetricsPassed(*At<Node>(arena_, state.root));
      if (!updates_.empty() || root_changed) {
        visit({.java_tid = state.tid, .root = ReadRoot(state), .nodes = updates_});
      }
    }
    if (is_short_) AskToPrune(state);
  });
  CollectGroups(visit);
  JudgeMemory();
  reports_all_ = false;
}

bool TreeCollector::IsGrouped(ThreadState& state) {
  if (state.group == kUndecided) DecideGroup(state);
  return state.group != kOwnTree;
}

void TreeCollector::DecideGroup(ThreadState& state) {
  const uint32_t group = group_of_ == nullptr ? 0 : group_of_(state.tid, state.is_virtual != 0);
  state.group = kOwnTree;
  if (group == 0) return;
  auto [entry, inserted] = root_of_group_.try_emplace(group);
  if (inserted) {
    entry->second = forest_.AddRoot();
    group_of_root_.emplace(entry->second, group);
  }
  Node& root = *At<Node>(arena_, state.root);
  root.number = entry->second;
  root.collected = kInGroup;
  state.group = entry->second + 1;
  forest_.AddMember(entry->second);
}

template <typename Visit>
void TreeCollector::ForEachNode(ThreadState& state, Visit visit) {
  values_.FindOpen(state);
  Ref ref = state.root;
  while ((ref = hot::ReadAcquire(At<Node>(arena_, ref)->next)) != 0) visit(*At<Node>(arena_, ref));
}

template <typename Visit>
void TreeCollector::ForEachKept(ThreadState& state, Visit visit) {
  values_.FindOpen(state);
  Node* before = At<Node>(arena_, state.root);
  for (Ref ref = hot::ReadAcquire(before->next); ref != 0;) {
    Node& node = *At<Node>(arena_, ref);
    const Ref next = hot::ReadAcquire(node.next);
    const bool is_gone = IsGone(node);
    if (is_gone && !IsDropped(node)) {
      if (watcher_ != nullptr) watcher_->OnNodeGone(state, node);
      DropNode(node);
    }
    // The thread will append to the last one.
    if (is_gone && next != 0) {
      hot::WriteRelease(before->next, next);
      nodes_.Retire(state, ref);
    } else {
      if (!is_gone) visit(node);
      before = &node;
    }
    ref = next;
  }
}

void TreeCollector::CollectTree(ThreadState& state, VisitUpdate visit) {
  updates_.clear();
  if (is_short_) pruner_.Begin(state);
  ForEachKept(state, [&](Node& node) {
    Judge(node);
    CollectNode(node);
    if (updates_.size() < limits_.most_updates) return;
    visit({.java_tid = state.tid, .nodes = updates_});
    updates_.clear();
  });
  ReportPruned();
  nodes_.TakeDroppedTables(state);
}

NodeValues TreeCollector::ReadRoot(ThreadState& state) {
  Node& root = *At<Node>(arena_, state.root);
  const NodeValues read = values_.ReadRoot(root);
  values_.SetReported(root, read);
  return values_.SinceBaseline(root, read);
}

void TreeCollector::CollectNode(Node& node) {
  const Counts counts = ReadCounts(node);
  if (IsUnused(node, counts)) return;
  const bool known = node.collected == kDefined || node.collected == kEarlier;
  if (known && node.reported.Until(counts.calls) == 0 && !values_.Passed(node)) return;
  if (is_short_ && !reports_all_ && Defer(node, counts.calls)) return;
  Report(node);
}

bool TreeCollector::Defer(Node& node, uint64_t calls) {
  if (!IsUnreported(node) || (reports_aged_ && node.collected == kAged)) return false;
  if (reports_aged_) {
    node.collected = kAged;
  } else if (node.collected == kUnseen) {
    node.collected = kYoung;
  }
  node.number = static_cast<uint32_t>(calls);
  return true;
}

void TreeCollector::Report(Node& node) {
  path_.clear();
  for (Node* above = At<Node>(arena_, node.parent);
       above->routine != 0 && above->collected != kDefined;
       above = At<Node>(arena_, above->parent)) {
    path_.push_back(above);
  }
  for (; !path_.empty(); path_.pop_back()) ReportOne(*path_.back());
  ReportOne(node);
}

void TreeCollector::ReportOne(Node& node) {
  const Counts counts = ReadCounts(node);
  const bool is_new = node.collected != kDefined;
  const uint64_t calls = counts.calls - node.baseline_calls;
  const uint64_t jitted = JittedSinceBaseline(node, counts);
  const NodeValues read = values_.Read(node);
  updates_.push_back({NumberOf(node), At<Node>(arena_, node.parent)->number,
                      TraceRoutine(node.routine), is_new, calls, jitted,
                      values_.SinceBaseline(node, read)});
  values_.SetReported(node, read);
  const uint64_t new_calls = node.reported.Until(counts.calls);
  if (IsBelowPruned(node)) pruned_calls_ += new_calls;
  node.collected = kDefined;
  nodes_reported_ += is_new;
  total_calls_ += new_calls;
  node.reported = counts.calls;
}

void TreeCollector::FoldTree(ThreadState& state) {
  if (is_short_) pruner_.Begin(state);
  ForEachKept(state, [&](Node& node) {
    Judge(node);
    FoldNode(node);
  });
  FoldRoot(*At<Node>(arena_, state.root));
  nodes_.TakeDroppedTables(state);
}

void TreeCollector::FoldRoot(Node& root) {
  const NodeValues read = values_.ReadRoot(root);
  const NodeValues values = values_.SinceBaseline(root, read);
  if (!values.any()) return;
  forest_.Add(root.number, 0, 0, values);
  values_.SetBaseline(root, read);
}

void TreeCollector::FoldNode(Node& node) {
  const Counts counts = ReadCounts(node);
  if (IsUnused(node, counts)) return;
  if (node.collected != kInGroup) PlaceInGroup(node);
  const NodeValues read = values_.Read(node);
  const NodeValues values = values_.SinceBaseline(node, read);
  if (counts.calls == node.baseline_calls && !values.any()) return;
  const uint64_t new_calls = counts.calls - node.baseline_calls;
  if (IsBelowPruned(node)) pruned_calls_ += new_calls;
  forest_.Add(node.number, new_calls, JittedSinceBaseline(node, counts), values);
  values_.SetBaseline(node, read);
  total_calls_ += new_calls;
  SetBaseline(node, counts.calls, counts.calls - counts.jitted);
}

void TreeCollector::PlaceInGroup(Node& node) {
  Node& parent = *At<Node>(arena_, node.parent);
  if (!IsInGroup(parent)) PlaceInGroup(parent);  // a [pruned] node that has counted nothing itself
  node.number = forest_.Child(parent.number, node.routine, last_number_);
  node.collected = kInGroup;
}

void TreeCollector::BeginFile() {
  states_.ForEachLive([this](ThreadState& state) {
    if (state.group != kOwnTree) return;
    ForEachNode(state, [this](Node& node) {
      if (node.collected != kDefined && node.collected != kEarlier) return;
      const Counts counts = ReadCounts(node);
      // Usually the interpreted calls ran first.
      SetBaseline(node, counts.calls - node.reported.Until(counts.calls),
                  counts.calls - counts.jitted);
      values_.SetBaseline(node, values_.Read(node));
      node.collected = kEarlier;
    });
    Node& root = *At<Node>(arena_, state.root);
    values_.SetBaseline(root, values_.ReadRoot(root));
  });
  pruned_.BeginFile();
  unplaced_.BeginFile();
  forest_.BeginFile();
  calls_before_file_ = total_calls_;
}

void TreeCollector::BeginRecording() {
  Poll();
  for (ThreadState* state : ended_) Retire(*state);
  ended_.clear();
  states_.ForEachLive([this](ThreadState& state) {
    if (IsGrouped(state)) return FoldTree(state);
    ForEachNode(state, [this](Node& node) {
      if (IsDropped(node)) return;
      NumberOf(node);
      node.reported = ReadCounts(node).calls;
      values_.SetReported(node, values_.Read(node));
      node.collected = kEarlier;
    });
  });
  unplaced_.BeginRecording();
  total_calls_ = nodes_reported_ = 0;
  pruned_calls_ = pruned_nodes_ = 0;
  BeginFile();
}

void TreeCollector::CollectGroups(VisitUpdate visit) {
  forest_.ForEachChanged([&](uint32_t root, const std::vector<uint32_t>& changed) {
    updates_.clear();
    for (const uint32_t index : changed) {
      const GroupForest::Node& node = forest_.node(index);
      if (index == root) continue;
      updates_.push_back({node.number, forest_.node(node.parent).number, TraceRoutine(node.routine),
                          node.is_new, node.calls, node.jitted, node.values});
      nodes_reported_ += node.is_new;
      if (updates_.size() < limits_.most_updates) continue;
      visit({.group = group_of_root_[root], .members = forest_.members(root), .nodes = updates_});
      updates_.clear();
    }
    visit({.group = group_of_root_[root],
           .members = forest_.members(root),
           .root = forest_.node(root).values,
           .nodes = updates_});
  });
}

}  // namespace jtrace
