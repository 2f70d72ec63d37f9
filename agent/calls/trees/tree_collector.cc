#include "agent/calls/trees/tree_collector.h"

#include <algorithm>
#include <utility>

#include "agent/base/clock.h"
#include "agent/calls/trees/arena_reservation.h"
#include "agent/calls/trees/node_search.h"
#include "agent/calls/trees/node_state.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/position.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::Node;
using signal_safe::Ref;
using signal_safe::ThreadState;

TreeCollector::TreeCollector(signal_safe::Arena* arena, const TreeSettings& settings)
    : arena_(arena),
      values_(arena, settings.scale, settings.clock, settings.metrics,
              settings.path_blocks != nullptr, settings.limits.exit_percent > 0),
      blocks_(arena, values_.blocks_offset(), settings.path_blocks),
      reporter_(arena, values_),
      groups_(arena, values_, blocks_, reporter_, settings.group_of, settings.limits),
      pruner_(arena, values_, blocks_, settings.limits),
      dropper_(arena, values_, blocks_, groups_, reporter_, settings.limits.arena_bytes / 6),
      read_backoff_(arena, settings.limits.quiet_from),
      without_tree_(arena),
      states_(arena),
      nodes_(arena, values_.node_bytes(), blocks_.is_on() ? values_.blocks_offset() : 0),
      max_updates_(settings.limits.max_updates) {}

// ---- Rounds -----------------------------------------------------------------------------------

void TreeCollector::Poll() {
  nodes_.FreeRetired();
  states_.FreeRetired();
  RemoveEnded();
}

void TreeCollector::RemoveEnded() {
  states_.RemoveEnded([this](ThreadState& state) {
    if (groups_.IsMember(state)) {
      const bool was_due = blocks_.SetDue(true);
      AddToGroup(state);
      blocks_.SetDue(was_due);
      Retire(state);
    } else {
      ended_.push_back(&state);
    }
  });
}

void TreeCollector::Retire(ThreadState& state) {
  if (watcher_ != nullptr) watcher_->OnThreadEnded(state);
  if (dropper_.has_sums() || blocks_.has_baselines()) {
    ForEachNode(arena_, state, [this](const Node& node) {
      dropper_.Forget(node);
      blocks_.Forget(node);
    });
    dropper_.Forget(*At<Node>(arena_, state.root));
  }
  read_backoff_.Forget(state);
  pruner_.Forget(state);
  states_.Retire(state);
}

void TreeCollector::Collect(VisitUpdate visit, bool reports_deferred) {
  reports_deferred_ = reports_deferred;
  RemoveEnded();
  for (ThreadState* state : ended_) CollectEnded(*state, visit);
  ended_.clear();
  states_.ForEachLive([&](ThreadState& state) {
    if (groups_.IsMember(state)) {
      AddToGroup(state);
    } else {
      CollectLive(state, visit);
    }
    pruner_.EndTree(state);
  });
  groups_.Report(visit);
  pruner_.EndRound();
  reports_all_ = reads_all_ = false;
  blocks_.EndRound();
}

void TreeCollector::CollectEnded(ThreadState& state, VisitUpdate visit) {
  if (on_thread_end_) on_thread_end_(state);
  const bool reported_all = std::exchange(reports_all_, true);
  const bool was_due = blocks_.SetDue(true);
  CollectTree(state, visit);
  reports_all_ = reported_all;
  blocks_.SetDue(was_due);
  visit({.java_tid = state.java_tid,
         .ended = true,
         .root = ReadRoot(state),
         .nodes = reporter_.updates()});
  Retire(state);
}

void TreeCollector::CollectLive(ThreadState& state, VisitUpdate visit) {
  CollectTree(state, visit);
  const bool root_changed = values_.MetricsChanged(*At<Node>(arena_, state.root));
  if (reporter_.updates().empty() && !root_changed) return;
  visit({.java_tid = state.java_tid, .root = ReadRoot(state), .nodes = reporter_.updates()});
}

void TreeCollector::BeginFile() {
  states_.ForEachLive([this](ThreadState& state) {
    if (!GroupedThreads::HasOwnTree(state)) return;
    values_.ReadOpenActivations(state);
    ForEachNode(arena_, state, [this](Node& node) {
      if (node.collected != kDefined && node.collected != kEarlier) return;
      const Counts counts = ReadCounts(node);
      // Calls that are not reported yet were the last ones, so most likely compiled.
      SetBaseline(node, counts.calls - node.reported.Until(counts.calls),
                  counts.calls - counts.jitted);
      values_.SetBaseline(node, values_.Read(node));
      node.collected = kEarlier;
    });
    Node& root = *At<Node>(arena_, state.root);
    values_.SetBaseline(root, values_.ReadRoot(root));
  });
  blocks_.BeginFile();
  dropper_.BeginFile();
  without_tree_.BeginFile();
  groups_.BeginFile();
  reporter_.totals().calls_before_file = totals().calls;
}

void TreeCollector::BeginRecording() {
  Poll();
  signal_safe::WriteRelaxed(arena_->recording_start, MonotonicNanos());
  for (ThreadState* state : ended_) Retire(*state);
  ended_.clear();
  blocks_.SetDue(true);
  states_.ForEachLive([this](ThreadState& state) { SetBaselines(state); });
  blocks_.EndRound();
  without_tree_.BeginRecording();
  reporter_.totals() = {};
  BeginFile();
}

void TreeCollector::SetBaselines(ThreadState& state) {
  if (groups_.IsMember(state)) {
    AddToGroup(state);
    if (!blocks_.is_on()) return;
    return ForEachNode(arena_, state, [this](Node& node) { blocks_.SetBaseline(node); });
  }
  values_.ReadOpenActivations(state);
  ForEachNode(arena_, state, [this](Node& node) {
    if (IsDropped(node)) return;
    reporter_.NumberOf(node);
    node.reported = ReadCounts(node).calls;
    values_.SetReported(node, values_.Read(node));
    blocks_.SetBaseline(node);
    node.collected = kEarlier;
  });
}

// ---- One tree ---------------------------------------------------------------------------------

template <typename Visit>
void TreeCollector::ForEachKept(ThreadState& state, Visit visit) {
  Node* before = At<Node>(arena_, state.root);
  for (Ref ref = signal_safe::ReadAcquire(before->next); ref != 0;) {
    Node& node = *At<Node>(arena_, ref);
    const Ref next = signal_safe::ReadAcquire(node.next);
    const bool is_gone = dropper_.IsGone(node);
    if (is_gone && !IsDropped(node)) {
      if (watcher_ != nullptr) watcher_->OnNodeRemoved(state, node);
      dropper_.Drop(node);
    }
    // The last node stays in the list: the thread will append to it.
    if (is_gone && next != 0) {
      signal_safe::WriteRelease(before->next, next);
      nodes_.Retire(state, ref);
    } else {
      if (!is_gone) visit(node);
      before = &node;
    }
    ref = next;
  }
}

void TreeCollector::CollectTree(ThreadState& state, VisitUpdate visit) {
  reporter_.Clear();
  pruner_.BeginTree(state);
  values_.ReadOpenActivations(state);
  const auto collect = [&](Node& node) {
    pruner_.Add(node);
    const bool changed = CollectNode(node);
    if (reporter_.updates().size() >= max_updates_) {
      visit({.java_tid = state.java_tid, .nodes = reporter_.updates()});
      reporter_.Clear();
    }
    return changed;
  };
  if (pruner_.MayHaveCut(state) || blocks_.is_on()) {
    read_backoff_.Forget(state);
    ForEachKept(state, collect);
  } else {
    read_backoff_.ForEachDue(state, reads_all_ || reports_all_, pruner_, collect);
  }
  dropper_.ReportSums();
  nodes_.FreeDroppedTables(state);
}

bool TreeCollector::CollectNode(Node& node) {
  const Counts counts = ReadCounts(node);
  if (IsDropped(node) || IsUnused(node, counts)) return false;
  const bool known = node.collected == kDefined || node.collected == kEarlier;
  const bool has_blocks = blocks_.is_due() && blocks_.Read(node);
  if (known && node.reported.Until(counts.calls) == 0 && !values_.ValuesChanged(node) &&
      !has_blocks) {
    return false;
  }
  if (pruner_.is_short() && !reports_all_ && Defer(node, counts.calls)) return true;
  reporter_.Report(node);
  if (has_blocks) blocks_.Report(node, node.number);
  return true;
}

bool TreeCollector::Defer(Node& node, uint64_t calls) {
  if (!IsUnreported(node) || (reports_deferred_ && node.collected == kDeferredTwice)) return false;
  if (reports_deferred_) {
    node.collected = kDeferredTwice;
  } else if (node.collected == kUnseen) {
    node.collected = kDeferred;
  }
  node.number = static_cast<uint32_t>(calls);
  return true;
}

NodeValues TreeCollector::ReadRoot(ThreadState& state) {
  Node& root = *At<Node>(arena_, state.root);
  const NodeValues read = values_.ReadRoot(root);
  values_.SetReported(root, read);
  return values_.SinceBaseline(root, read);
}

void TreeCollector::AddToGroup(ThreadState& state) {
  pruner_.BeginTree(state);
  values_.ReadOpenActivations(state);
  ForEachKept(state, [&](Node& node) {
    pruner_.Add(node);
    groups_.AddNode(node, GroupedThreads::RootOf(state));
  });
  groups_.AddRoot(*At<Node>(arena_, state.root));
  nodes_.FreeDroppedTables(state);
}

// ---- Samples' nodes ---------------------------------------------------------------------------

Node* TreeCollector::NodeAt(uint64_t raw_node) const {
  const uint64_t offset = (raw_node & UINT32_MAX) << signal_safe::kGranuleShift;
  if (offset < signal_safe::kFirstChunk || offset >= signal_safe::ReadRelaxed(arena_->next)) {
    return nullptr;
  }
  return At<Node>(arena_, static_cast<Ref>(raw_node));
}

uint32_t TreeCollector::NumberOf(uint64_t raw_node) {
  Node* node = NodeAt(raw_node);
  // Roots have no routine and no number.
  return node == nullptr || node->routine == 0 ? 0 : NumberForSample(*node);
}

uint32_t TreeCollector::NumberOfChild(uint64_t raw_node, uint32_t routine) {
  const auto call_site = static_cast<uint32_t>(raw_node >> signal_safe::kPositionCallSiteShift);
  if (routine < signal_safe::kCallSiteIds) routine |= call_site << signal_safe::kCallSiteShift;
  const Node* parent = NodeAt(raw_node);
  if (parent == nullptr) return 0;
  const Ref child = FindChild(arena_, *parent, routine);
  if (child == 0) return 0;
  Node& node = *At<Node>(arena_, child);
  const bool is_child = node.routine == routine && node.parent == static_cast<Ref>(raw_node);
  return is_child ? NumberForSample(node) : 0;
}

uint32_t TreeCollector::NumberForSample(Node& node) {
  if (node.collected == kUnseen) groups_.AddUnseen(node);
  if (IsInGroup(node)) return groups_.NumberForSample(node);
  if (node.collected == kDropped) {
    Node& kept = dropper_.KeptAbove(node);
    return kept.routine == 0 ? 0 : NumberForSample(kept);
  }
  const uint32_t number = reporter_.NumberOf(node);
  // Only nodes that the next round might leave out as quiet need this; it reads all new ones.
  reads_all_ |= node.collected == kEarlier || node.routine == signal_safe::kPrunedRoutine;
  if (node.collected != kDefined) node.collected = kSampled;
  return number;
}

// ---- Threads and memory -----------------------------------------------------------------------

void TreeCollector::ForEachThread(absl::FunctionRef<void(ThreadState&)> visit) {
  for (ThreadState* state : ended_) visit(*state);
  states_.ForEachLive(visit);
}

const ThreadState* TreeCollector::FindThread(uint64_t java_tid) const {
  const auto ended = std::find_if(ended_.begin(), ended_.end(),
                                  [&](const ThreadState* it) { return it->java_tid == java_tid; });
  return ended != ended_.end() ? *ended : signal_safe::FindThreadState(arena_, java_tid);
}

std::vector<RoutineUpdate> TreeCollector::CollectWithoutTree(uint32_t routine_limit) {
  const uint64_t before = without_tree_.calls();
  std::vector<RoutineUpdate> updates = without_tree_.Collect(routine_limit);
  reporter_.totals().calls += without_tree_.calls() - before;
  return updates;
}

uint64_t TreeCollector::tree_bytes() const {
  return ArenaBytesUsed(*arena_) + groups_.memory_bytes() + dropper_.memory_bytes();
}

}  // namespace jtrace::calls
