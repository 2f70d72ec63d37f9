#include "agent/probes/tree_collector.h"

#include <algorithm>
#include <utility>

#include "agent/base/clock.h"
#include "agent/hot/climb.h"
#include "agent/hot/thread_state.h"
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

// The memory of nodes that a thread cuts off is available again a round later: it must not use up
// the rest with those that it makes instead.
constexpr uint32_t kCutsARound = 4096;

// A [pruned] node that every thread has, and that has counted nothing yet.
bool IsUnused(const Node& node, const Counts& counts) {
  return node.routine == hot::kPrunedRoutine && counts.calls == 0 && node.collected == kUnseen;
}

}  // namespace

TreeCollector::TreeCollector(hot::Arena* arena, GroupOf group_of, const TickScale* scale,
                             hot::ProbeClock clock, const TreeLimits& limits,
                             const PathMetrics& metrics, const BlockCounters* path_blocks)
    : arena_(arena),
      values_(arena, scale, clock, metrics, path_blocks != nullptr, limits.exit_percent > 0),
      group_of_(std::move(group_of)),
      blocks_(path_blocks == nullptr
                  ? nullptr
                  : std::make_unique<PathBlocks>(arena, values_.blocks_offset(), *path_blocks)),
      states_(arena),
      nodes_(arena, values_.node_bytes(), path_blocks == nullptr ? 0 : values_.blocks_offset()),
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
      const bool was_due = blocks_ != nullptr && blocks_->SetDue(true);
      FoldTree(state);
      if (blocks_ != nullptr) blocks_->SetDue(was_due);
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

const ThreadState* TreeCollector::FindThread(uint64_t java_tid) const {
  const auto ended = std::find_if(ended_.begin(), ended_.end(),
                                  [&](const ThreadState* it) { return it->tid == java_tid; });
  return ended != ended_.end() ? *ended : hot::FindThreadState(arena_, java_tid);
}

void TreeCollector::Retire(ThreadState& state) {
  if (watcher_ != nullptr) watcher_->OnThreadGone(state);
  quiet_.erase(&state);
  if (!pruned_.empty()) {
    ForEachNode(state, [&](Node& node) { pruned_.Erase(hot::RefOf(arena_, &node)); });
    pruned_.Erase(state.root);
  }
  if (blocks_ != nullptr && blocks_->has_baselines()) {
    ForEachNode(state, [&](Node& node) { blocks_->Forget(node); });
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
    const bool was_due = blocks_ != nullptr && blocks_->SetDue(true);
    CollectTree(*state, visit);
    reports_all_ = reported_all;
    if (blocks_ != nullptr) blocks_->SetDue(was_due);
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
    AllowCuts(state, is_short_ ? kCutsARound : 0);
  });
  CollectGroups(visit);
  JudgeMemory();
  reports_all_ = looks_at_all_ = false;
  if (blocks_ != nullptr) blocks_->EndRound();
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

template <typename Visit>
void TreeCollector::ForEachDue(ThreadState& state, Visit visit) {
  values_.FindOpen(state);
  std::vector<QuietNodes::Stretch>& stretches = quiet_[&state].stretches;
  const bool is_long = stretches.size() * QuietNodes::kStretch >= limits_.quiet_from;
  const bool leaves_out = is_long && !looks_at_all_ && !reports_all_;
  Node* at = At<Node>(arena_, state.root);
  for (QuietNodes::Stretch& stretch : stretches) {
    Node* const last = At<Node>(arena_, stretch.last);
    if (leaves_out && stretch.rest != 0) {
      --stretch.rest;
      kept_bytes_ += stretch.bytes;
      at = last;
      continue;
    }
    const uint64_t bytes_before = kept_bytes_;
    bool changed = false;
    while (at != last) {
      at = At<Node>(arena_, hot::ReadAcquire(at->next));
      changed |= visit(*at);
    }
    stretch.bytes = static_cast<uint32_t>(kept_bytes_ - bytes_before);
    stretch.Looked(changed);
  }
  uint32_t count = 0;
  for (Ref next; (next = hot::ReadAcquire(at->next)) != 0;) {
    at = At<Node>(arena_, next);
    visit(*at);
    if (++count % QuietNodes::kStretch == 0)
      stretches.push_back({.last = next, .bytes = 0, .quiet = 0, .rest = 0});
  }
}

bool TreeCollector::NeedsWholeLook(ThreadState& state) {
  const auto victims = victims_.find(&state);
  // Once they are cut off, this look takes them out.
  const bool was_pruned = victims != victims_.end();
  if (was_pruned && hot::ReadAcquire(state.victims) == 0) victims_.erase(victims);
  return was_pruned || is_short_ || limits_.exit_percent > 0 || blocks_ != nullptr;
}

void TreeCollector::CollectTree(ThreadState& state, VisitUpdate visit) {
  updates_.clear();
  AllowCuts(state, 0);
  BeginJudging(state);
  const auto look = [&](Node& node) {
    Judge(node);
    const bool changed = CollectNode(node);
    if (updates_.size() >= limits_.most_updates) {
      visit({.java_tid = state.tid, .nodes = updates_});
      updates_.clear();
    }
    return changed;
  };
  if (NeedsWholeLook(state)) {
    quiet_.erase(&state);
    ForEachKept(state, look);
  } else {
    ForEachDue(state, look);
  }
  ReportPruned();
  nodes_.TakeDroppedTables(state);
}

NodeValues TreeCollector::ReadRoot(ThreadState& state) {
  Node& root = *At<Node>(arena_, state.root);
  const NodeValues read = values_.ReadRoot(root);
  values_.SetReported(root, read);
  return values_.SinceBaseline(root, read);
}

bool TreeCollector::CollectNode(Node& node) {
  const Counts counts = ReadCounts(node);
  if (IsDropped(node) || IsUnused(node, counts)) return false;
  const bool known = node.collected == kDefined || node.collected == kEarlier;
  const bool has_blocks = blocks_ != nullptr && blocks_->is_due() && blocks_->Read(node);
  if (known && node.reported.Until(counts.calls) == 0 && !values_.Passed(node) && !has_blocks) {
    return false;
  }
  if (is_short_ && !reports_all_ && Defer(node, counts.calls)) return true;
  Report(node);
  if (has_blocks) blocks_->Report(node, node.number);
  return true;
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
  hot::Climb at(arena_, node);
  do {
    path_.push_back(&*at);
  } while (at.Up() && !at.IsAtRoot() && at->collected != kDefined && !IsInGroup(*at));
  for (; !path_.empty(); path_.pop_back()) ReportOne(*path_.back());
}

void TreeCollector::ReportOne(Node& node) {
  const Counts counts = ReadCounts(node);
  const bool is_new = node.collected != kDefined;
  const uint64_t calls = node.baseline_calls.Until(counts.calls);
  const uint64_t jitted = JittedSinceBaseline(node, counts);
  const NodeValues read = values_.Read(node);
  const Node& parent = *At<Node>(arena_, node.parent);
  updates_.push_back({.node = NumberOf(node),
                      .parent = parent.collected == kDefined ? parent.number : 0,
                      .routine = TraceRoutine(node.routine),
                      .is_new = is_new,
                      .calls = calls,
                      .jitted = jitted,
                      .values = values_.SinceBaseline(node, read),
                      .caller = TraceRoutine(parent.routine),
                      .place = hot::PlaceOf(node.routine)});
  values_.SetReported(node, read);
  const uint64_t new_calls = node.reported.Until(counts.calls);
  if (IsBelowPruned(node)) pruned_calls_ += new_calls;
  node.collected = kDefined;
  nodes_reported_ += is_new;
  total_calls_ += new_calls;
  node.reported = counts.calls;
}

void TreeCollector::FoldTree(ThreadState& state) {
  AllowCuts(state, 0);
  BeginJudging(state);
  ForEachKept(state, [&](Node& node) {
    Judge(node);
    FoldNode(node, /*root=*/state.group - 1);
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

void TreeCollector::FoldBlocks(const Node& node) {
  if (!blocks_->HasNew(node)) return;
  blocks_->AddToGroup(node, forest_.NumberForSample(node.number));
}

void TreeCollector::FoldNode(Node& node, uint32_t root) {
  const Counts counts = ReadCounts(node);
  if (IsUnused(node, counts)) return;
  if (node.collected != kInGroup) PlaceInGroup(node, root);
  if (blocks_ != nullptr && blocks_->is_due()) FoldBlocks(node);
  const NodeValues read = values_.Read(node);
  const NodeValues values = values_.SinceBaseline(node, read);
  const uint64_t new_calls = node.baseline_calls.Until(counts.calls);
  if (new_calls == 0 && !values.any()) return;
  if (IsBelowPruned(node)) pruned_calls_ += new_calls;
  forest_.Add(node.number, new_calls, JittedSinceBaseline(node, counts), values);
  values_.SetBaseline(node, read);
  total_calls_ += new_calls;
  SetBaseline(node, counts.calls, counts.calls - counts.jitted);
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
  if (blocks_ != nullptr) blocks_->BeginFile();
  pruned_.BeginFile();
  unplaced_.BeginFile();
  forest_.BeginFile();
  calls_before_file_ = total_calls_;
}

void TreeCollector::BeginRecording() {
  Poll();
  hot::WriteRelaxed(arena_->recording_start, MonotonicNanos());
  for (ThreadState* state : ended_) Retire(*state);
  ended_.clear();
  if (blocks_ != nullptr) blocks_->SetDue(true);
  states_.ForEachLive([this](ThreadState& state) {
    if (IsGrouped(state)) {
      FoldTree(state);
      if (blocks_ == nullptr) return;
      return ForEachNode(state, [this](Node& node) { blocks_->SetBaseline(node); });
    }
    ForEachNode(state, [this](Node& node) {
      if (IsDropped(node)) return;
      NumberOf(node);
      node.reported = ReadCounts(node).calls;
      values_.SetReported(node, values_.Read(node));
      if (blocks_ != nullptr) blocks_->SetBaseline(node);
      node.collected = kEarlier;
    });
  });
  if (blocks_ != nullptr) blocks_->EndRound();
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
      const GroupForest::Node& parent = forest_.node(node.parent);
      updates_.push_back({.node = node.number,
                          .parent = parent.number,
                          .routine = TraceRoutine(node.routine),
                          .is_new = node.is_new,
                          .calls = node.calls,
                          .jitted = node.jitted,
                          .values = node.values,
                          .caller = TraceRoutine(parent.routine),
                          .place = hot::PlaceOf(node.routine)});
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
