#include "agent/calls/trees/grouped_threads.h"

#include "agent/calls/trees/node_state.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::Node;
using signal_safe::ThreadState;

bool GroupedThreads::IsMember(ThreadState& state) {
  if (state.group == kUndecided) DecideGroup(state);
  return state.group != kOwnTree;
}

void GroupedThreads::DecideGroup(ThreadState& state) {
  const uint32_t group =
      group_of_ == nullptr ? 0 : group_of_(state.java_tid, state.is_virtual != 0);
  state.group = kOwnTree;
  if (group == 0) return;
  auto [entry, inserted] = root_of_group_.try_emplace(group);
  if (inserted) {
    entry->second = group_trees_.AddRoot();
    group_of_root_.emplace(entry->second, group);
  }
  Node& root = *At<Node>(arena_, state.root);
  root.number = entry->second;
  root.collected = kInGroup;
  state.group = entry->second + 1;
  group_trees_.AddMember(entry->second);
}

void GroupedThreads::AddNode(Node& node, uint32_t root) {
  const Counts counts = ReadCounts(node);
  if (IsUnused(node, counts)) return;
  if (node.collected != kInGroup) AddPath(node, root);
  if (blocks_.is_due()) AddBlocks(node);
  const NodeValues read = values_.Read(node);
  const NodeValues values = values_.SinceBaseline(node, read);
  const uint64_t new_calls = node.baseline_calls.Until(counts.calls);
  if (new_calls == 0 && !values.any()) return;
  if (IsBelowPruned(arena_, node)) reporter_.totals().pruned_calls += new_calls;
  group_trees_.Add(node.number, new_calls, JittedSinceBaseline(node, counts), values);
  values_.SetBaseline(node, read);
  reporter_.totals().calls += new_calls;
  SetBaseline(node, counts.calls, counts.calls - counts.jitted);
}

void GroupedThreads::AddRoot(Node& root) {
  const NodeValues read = values_.ReadRoot(root);
  const NodeValues values = values_.SinceBaseline(root, read);
  if (!values.any()) return;
  group_trees_.Add(root.number, 0, 0, values);
  values_.SetBaseline(root, read);
}

void GroupedThreads::AddBlocks(const Node& node) {
  if (!blocks_.HasNew(node)) return;
  blocks_.AddToGroup(node, NumberForSample(node));
}

void GroupedThreads::AddUnseen(Node& node) {
  signal_safe::RootPath at(arena_, node);
  while (IsUnreported(*at) && at.Up()) continue;
  if (at.IsAtRoot() && at->collected == kUnseen) {
    auto* const state = reinterpret_cast<ThreadState*>(&*at) - 1;
    if (state->root == signal_safe::RefOf(arena_, &*at)) IsMember(*state);
  }
  if (IsInGroup(*at)) AddPath(node, /*instead=*/at->number);
}

void GroupedThreads::AddPath(Node& node, uint32_t instead) {
  path_.clear();
  signal_safe::RootPath at(arena_, node);
  do {
    path_.push_back(&*at);
  } while (at.Up() && !IsInGroup(*at));
  uint32_t above = at->number;
  // Not a node of the group's threads: the ways of two threads have crossed.
  if (!IsInGroup(*at)) {
    path_.resize(1);
    above = instead;
  }
  for (; !path_.empty(); path_.pop_back()) {
    Node& added = *path_.back();
    added.number = above = group_trees_.Child(above, added.routine, reporter_.last_number());
    added.collected = kInGroup;
  }
}

void GroupedThreads::Report(absl::FunctionRef<void(const TreeUpdate&)> visit) {
  group_trees_.ForEachChanged([&](uint32_t root, const std::vector<uint32_t>& changed) {
    ReportGroup(root, changed, visit);
  });
}

void GroupedThreads::ReportGroup(uint32_t root, const std::vector<uint32_t>& changed,
                                 absl::FunctionRef<void(const TreeUpdate&)> visit) {
  TreeUpdate update = {.group = group_of_root_[root], .members = group_trees_.members(root)};
  reporter_.Clear();
  for (const uint32_t index : changed) {
    if (index == root) continue;
    const GroupTreeStore::Node& node = group_trees_.node(index);
    const GroupTreeStore::Node& parent = group_trees_.node(node.parent);
    reporter_.Report({.node = node.number,
                      .parent = parent.number,
                      .routine = TraceRoutine(node.routine),
                      .is_new = node.is_new,
                      .calls = node.calls,
                      .jitted = node.jitted,
                      .values = node.values,
                      .caller = TraceRoutine(parent.routine),
                      .call_site = signal_safe::CallSiteNumberOf(node.routine)});
    update.nodes = reporter_.updates();
    if (update.nodes.size() < max_updates_) continue;
    visit(update);
    reporter_.Clear();
  }
  update.root = group_trees_.node(root).values;
  update.nodes = reporter_.updates();
  visit(update);
}

}  // namespace jtrace::calls
