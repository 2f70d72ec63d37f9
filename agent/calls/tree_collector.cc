#include "agent/calls/tree_collector.h"

#include <algorithm>
#include <utility>

#include "agent/base/clock.h"
#include "agent/calls/find_child.h"
#include "agent/calls/memory_recyclers.h"
#include "agent/calls/node_state.h"
#include "agent/signal_safe/position.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::Node;
using signal_safe::ReadRelaxed;
using signal_safe::Ref;
using signal_safe::ThreadState;

namespace {

// ThreadState::group; else the index of the group's root in the forest, plus 1.
constexpr uint32_t kUndecided = 0;
constexpr uint32_t kOwnTree = 1;

// The memory of nodes that a thread cuts off is available again a round later: it must not use up
// the rest with those that it makes instead.
constexpr uint32_t kCutsARound = 4096;

// A [pruned] node that every thread has, and that has counted nothing yet.
bool IsUnused(const Node& node, const Counts& counts) {
  return node.routine == signal_safe::kPrunedRoutine && counts.calls == 0 &&
         node.collected == kUnseen;
}

NodeUpdate DroppedUpdate(uint32_t number, uint32_t parent, uint32_t routine, bool is_new) {
  return {.node = number,
          .parent = parent,
          .routine = routine,
          .is_new = is_new,
          .calls = 0,
          .jitted = 0,
          .pruned = true};
}

// Since the last Collect.
bool HasChanged(const Node& node, uint64_t calls) {
  if (node.collected == kUnseen) return true;
  if (IsUnreported(node)) return static_cast<uint32_t>(calls) != node.number;
  return IsInGroup(node) ? node.baseline_calls.Until(calls) != 0 : node.reported.Until(calls) != 0;
}

}  // namespace

TreeCollector::TreeCollector(signal_safe::Arena* arena, GroupOf group_of, const TickScale* scale,
                             signal_safe::ProbeClock clock, const TreeLimits& limits,
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
  return ended != ended_.end() ? *ended : signal_safe::FindThreadState(arena_, java_tid);
}

void TreeCollector::Retire(ThreadState& state) {
  if (watcher_ != nullptr) watcher_->OnThreadGone(state);
  quiet_.erase(&state);
  if (!pruned_.empty()) {
    ForEachNode(state, [&](Node& node) { pruned_.Erase(signal_safe::RefOf(arena_, &node)); });
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
  CheckMemory();
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
  while ((ref = signal_safe::ReadAcquire(At<Node>(arena_, ref)->next)) != 0) {
    visit(*At<Node>(arena_, ref));
  }
}

template <typename Visit>
void TreeCollector::ForEachKept(ThreadState& state, Visit visit) {
  values_.FindOpen(state);
  Node* before = At<Node>(arena_, state.root);
  for (Ref ref = signal_safe::ReadAcquire(before->next); ref != 0;) {
    Node& node = *At<Node>(arena_, ref);
    const Ref next = signal_safe::ReadAcquire(node.next);
    const bool is_gone = IsGone(node);
    if (is_gone && !IsDropped(node)) {
      if (watcher_ != nullptr) watcher_->OnNodeGone(state, node);
      DropNode(node);
    }
    // The thread will append to the last one.
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
      at = At<Node>(arena_, signal_safe::ReadAcquire(at->next));
      changed |= visit(*at);
    }
    stretch.bytes = static_cast<uint32_t>(kept_bytes_ - bytes_before);
    stretch.Looked(changed);
  }
  uint32_t count = 0;
  for (Ref next; (next = signal_safe::ReadAcquire(at->next)) != 0;) {
    at = At<Node>(arena_, next);
    visit(*at);
    if (++count % QuietNodes::kStretch == 0) {
      stretches.push_back({.last = next, .bytes = 0, .quiet = 0, .rest = 0});
    }
  }
}

bool TreeCollector::NeedsWholeLook(ThreadState& state) {
  const auto victims = victims_.find(&state);
  // Once they are cut off, this look takes them out.
  const bool was_pruned = victims != victims_.end();
  if (was_pruned && signal_safe::ReadAcquire(state.victims) == 0) victims_.erase(victims);
  return was_pruned || is_short_ || limits_.exit_percent > 0 || blocks_ != nullptr;
}

void TreeCollector::CollectTree(ThreadState& state, VisitUpdate visit) {
  updates_.clear();
  AllowCuts(state, 0);
  BeginChoosing(state);
  const auto look = [&](Node& node) {
    Consider(node);
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
  signal_safe::Climb at(arena_, node);
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
                      .place = signal_safe::PlaceOf(node.routine)});
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
  BeginChoosing(state);
  ForEachKept(state, [&](Node& node) {
    Consider(node);
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
  signal_safe::WriteRelaxed(arena_->recording_start, MonotonicNanos());
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
                          .place = signal_safe::PlaceOf(node.routine)});
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

uint32_t TreeCollector::NumberOf(Node& node) {
  if (IsUnreported(node)) node.number = 0;
  if (node.number == 0) node.number = ++last_number_;
  return node.number;
}

void TreeCollector::Place(Node& node) {
  signal_safe::Climb at(arena_, node);
  while (IsUnreported(*at) && at.Up()) continue;
  if (at.IsAtRoot() && at->collected == kUnseen) {
    auto* const state = reinterpret_cast<ThreadState*>(&*at) - 1;
    if (state->root == signal_safe::RefOf(arena_, &*at)) IsGrouped(*state);
  }
  if (IsInGroup(*at)) PlaceInGroup(node, /*instead=*/at->number);
}

void TreeCollector::PlaceInGroup(Node& node, uint32_t instead) {
  path_.clear();
  signal_safe::Climb at(arena_, node);
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
    Node& placed = *path_.back();
    placed.number = above = forest_.Child(above, placed.routine, last_number_);
    placed.collected = kInGroup;
  }
}

Node* TreeCollector::NodeAt(uint64_t raw_node) const {
  const uint64_t offset = (raw_node & UINT32_MAX) << signal_safe::kGranuleShift;
  if (offset < signal_safe::kFirstChunk || offset >= ReadRelaxed(arena_->next)) return nullptr;
  return At<Node>(arena_, static_cast<Ref>(raw_node));
}

uint32_t TreeCollector::TraceNode(uint64_t raw_node) {
  Node* node = NodeAt(raw_node);
  // Roots have no routine and no number.
  return node == nullptr || node->routine == 0 ? 0 : NameBySample(*node);
}

uint32_t TreeCollector::TraceChild(uint64_t raw_node, uint32_t routine) {
  const auto place = static_cast<uint32_t>(raw_node >> signal_safe::kPositionPlaceShift);
  if (routine < signal_safe::kPlacedIds) routine |= place << signal_safe::kPlaceShift;
  const Node* parent = NodeAt(raw_node);
  if (parent == nullptr) return 0;
  const Ref child = FindChild(arena_, *parent, routine);
  if (child == 0) return 0;
  Node& node = *At<Node>(arena_, child);
  return node.routine == routine && node.parent == static_cast<Ref>(raw_node) ? NameBySample(node)
                                                                              : 0;
}

uint32_t TreeCollector::NameBySample(Node& node) {
  if (node.collected == kUnseen) Place(node);
  if (IsInGroup(node)) return forest_.NumberForSample(node.number);
  if (node.collected == kDropped) {
    Node& kept = KeptAbove(node);
    return kept.routine == 0 ? 0 : NameBySample(kept);
  }
  const uint32_t number = NumberOf(node);
  // Of new nodes the next look sees all.
  looks_at_all_ |= node.collected == kEarlier || node.routine == signal_safe::kPrunedRoutine;
  if (node.collected != kDefined) node.collected = kNamed;
  return number;
}

void TreeCollector::BeginChoosing(const ThreadState& state) {
  // A log names nodes at any time: records in the ring, the open gap, the file's first position.
  // And nobody chooses again before what was chosen is cut off.
  chooses_ = is_short_ && signal_safe::ReadRelaxed(state.log_ring) == 0 &&
             signal_safe::ReadAcquire(state.victims) == 0;
  if (chooses_) pruner_.Begin(state);
}

void TreeCollector::Consider(const Node& node) {
  // Those of a granule take a node's memory.
  const uint64_t slots = SlotBytes(*arena_, node);
  kept_bytes_ +=
      values_.node_bytes() + (AreFew(slots) ? slots : std::max(slots, values_.node_bytes()));
  if (blocks_ != nullptr) kept_bytes_ += blocks_->BytesOf(node);
  if (!chooses_) return;
  const uint64_t calls = ReadCounts(node).calls;
  pruner_.Add(signal_safe::RefOf(arena_, &node), node, calls, HasChanged(node, calls));
}

bool TreeCollector::IsGone(const Node& node) const {
  // A list's last node stays in it, while those above it may be removed and reused.
  return IsDropped(node) || (signal_safe::ReadAcquire(node.marks) & signal_safe::kMarkGone) != 0 ||
         IsDropped(*At<Node>(arena_, node.parent));
}

// Trees of which much is dropped at once are deep: a climb for each node would take seconds.
Node& TreeCollector::KeptAbove(const Node& node) const {
  signal_safe::Climb above(arena_, *At<Node>(arena_, node.parent));
  const auto up = [&] {
    return above->collected == kDropped ? above.To(above->number) : above.Up();
  };
  while (IsDropped(*above) && up()) continue;
  return *above;
}

void TreeCollector::DropNode(Node& node) {
  ++pruned_nodes_;
  if (const Node& parent = *At<Node>(arena_, node.parent); IsInGroup(parent)) {
    FoldNode(node, parent.number);
    if (blocks_ != nullptr) {
      FoldBlocks(node);
      blocks_->Forget(node);
    }
    node.collected = kLeftGroup;
    return;
  }
  Node& kept = KeptAbove(node);
  const Ref keeper = signal_safe::RefOf(arena_, pruned_.IsFull() ? &RootAbove(kept) : &kept);
  pruned_.MoveUp(signal_safe::RefOf(arena_, &node), keeper, last_number_, [this](uint32_t number) {
    updates_.push_back(DroppedUpdate(number, 0, 0, /*is_new=*/false));
  });
  const PrunedNodes::Sum counted = TakeCounts(node);
  // A [pruned] node of the thread's own counts no calls: its children do.
  if (node.routine != signal_safe::kPrunedRoutine) {
    pruned_.Add(keeper, signal_safe::IdOf(node.routine), counted, last_number_);
  }
  DropNumber(node, kept);
}

Node& TreeCollector::RootAbove(const Node& node) const {
  signal_safe::Climb above(arena_, node);
  while (above.Up()) continue;
  return *above;
}

bool TreeCollector::IsBelowPruned(const Node& node) const {
  return At<Node>(arena_, node.parent)->routine == signal_safe::kPrunedRoutine;
}

PrunedNodes::Sum TreeCollector::TakeCounts(const Node& node) {
  const Counts counts = ReadCounts(node);
  const uint64_t new_calls = node.reported.Until(counts.calls);
  total_calls_ += new_calls;
  const uint64_t calls = node.baseline_calls.Until(counts.calls);
  pruned_calls_ += IsBelowPruned(node) ? new_calls : calls;
  PrunedNodes::Sum counted;
  counted.has_extremes = !IsBelowPruned(node);
  counted.calls = calls;
  counted.jitted = JittedSinceBaseline(node, counts);
  counted.values = values_.SinceBaseline(node, values_.ReadClosed(node));
  if (blocks_ != nullptr) counted.blocks = blocks_->Take(node);
  return counted;
}

// A number that the trace knows, or that a sample in this chunk names.
void TreeCollector::DropNumber(Node& node, Node& kept) {
  if (node.collected == kDefined) {
    updates_.push_back(DroppedUpdate(node.number, 0, 0, /*is_new=*/false));
  } else if (node.collected == kNamed) {
    if (kept.routine != 0 && kept.collected != kDefined) Report(kept);
    updates_.push_back(
        DroppedUpdate(node.number, kept.number, TraceRoutine(node.routine), /*is_new=*/true));
  }
  node.collected = kDropped;
  node.number = signal_safe::RefOf(arena_, &kept);
}

void TreeCollector::ReportPruned() {
  pruned_.ForEachChanged([this](Ref keeper, PrunedNodes::Below& below) {
    Node& kept = *At<Node>(arena_, keeper);
    if (kept.routine != 0 && kept.collected != kDefined) Report(kept);
    // A [pruned] node of the thread's own needs no other below it.
    const bool is_pruned = kept.routine == signal_safe::kPrunedRoutine;
    if (!is_pruned && below.number == 0) below.number = ++last_number_;
    const uint32_t number = is_pruned ? kept.number : below.number;
    if (!is_pruned && below.is_new) {
      updates_.push_back({number, kept.number, 0, /*is_new=*/true, 0, 0});
      ++nodes_reported_;
    }
    for (const uint32_t routine : below.changed) {
      const PrunedNodes::Sum& sum = below.sums.at(routine);
      updates_.push_back(
          {sum.number, number, routine, sum.is_new, sum.calls, sum.jitted, sum.ReportedValues()});
      nodes_reported_ += sum.is_new;
      if (!sum.blocks.empty()) blocks_->ReportSum(sum.number, sum.blocks);
    }
  });
}

void TreeCollector::AskToPrune(ThreadState& state) {
  if (!chooses_) return;
  std::vector<uint32_t> chosen = pruner_.Choose(percent_);
  if (chosen.empty()) return;
  std::vector<uint32_t>& victims = victims_[&state];
  victims = std::move(chosen);
  signal_safe::WriteRelease(state.victims,
                            static_cast<uint64_t>(reinterpret_cast<uintptr_t>(victims.data())));
}

void TreeCollector::AllowCuts(ThreadState& state, uint32_t count) {
  if (limits_.exit_percent > 0) signal_safe::WriteRelaxed(state.cuts_left, count);
}

void TreeCollector::CheckMemory() {
  // For a while after that, too: a program that fills the memory once continues to do so, and new
  // nodes would be reported whenever there is room again, only to be dropped soon.
  constexpr int kRounds = 100;
  const uint64_t high = limits_.arena_bytes / 5 * 3;
  const bool prunes = limits_.prune_percent > 0 || limits_.exit_percent > 0;
  const bool is_full = prunes && kept_bytes_ > high;
  short_rounds_ = is_full ? kRounds : std::max(0, short_rounds_ - 1);
  is_short_ = short_rounds_ > 0;
  // Not enough is dropped: more has to be.
  constexpr double kMostPercent = 50;
  const bool is_shorter = kept_bytes_ > high + high / 4;
  percent_ = !is_full ? limits_.prune_percent
                      : std::min(kMostPercent, is_shorter ? percent_ * 2 : percent_);
  kept_bytes_ = 0;
}

std::vector<RoutineUpdate> TreeCollector::CollectUnplaced(uint32_t routine_limit) {
  const uint64_t before = unplaced_.calls();
  std::vector<RoutineUpdate> updates = unplaced_.Collect(routine_limit);
  total_calls_ += unplaced_.calls() - before;
  return updates;
}

uint64_t TreeCollector::tree_bytes() const {
  return ArenaBytesUsed(*arena_) + forest_.memory_bytes() + pruned_.memory_bytes();
}

}  // namespace jtrace::calls
