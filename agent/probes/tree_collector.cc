#include "agent/probes/tree_collector.h"

#include <algorithm>

namespace jtrace {
namespace {

using hot::At;
using hot::Node;
using hot::NodeTimes;
using hot::ReadRelaxed;
using hot::Ref;
using hot::ThreadState;

// ThreadState::group; else the index of the group's root in the forest, plus 1.
constexpr uint32_t kUndecided = 0;
constexpr uint32_t kOwnTree = 1;

// Node::collected.
enum Collected : uint8_t {
  kUnseen = 0,
  kNamed = 1,    // a sample named it: to be told
  kDefined = 2,  // told in this file
  kEarlier = 3,  // told in an earlier file: told again if it changes
  kInGroup = 4,  // its number is an index of the forest, its baseline what was added there
};

struct Counts {
  uint64_t calls;
  uint64_t jitted;
};

Counts ReadCounts(const Node& node) {
  // The jitted count first: it can only be behind the sum then.
  const uint64_t jitted = ReadRelaxed(node.jitted);
  return {jitted + ReadRelaxed(node.interpreted), jitted};
}

NodeTimes& TimesOf(Node& node) { return *reinterpret_cast<NodeTimes*>(&node + 1); }
const NodeTimes& TimesOf(const Node& node) {
  return *reinterpret_cast<const NodeTimes*>(&node + 1);
}

}  // namespace

void TreeCollector::Poll() {
  states_.FreeRetired();
  TakeEnded();
}

void TreeCollector::TakeEnded() {
  states_.TakeEnded([this](ThreadState& state) {
    if (IsGrouped(state)) {
      FoldTree(state);
      states_.Retire(state);
    } else {
      ended_.push_back(&state);
    }
  });
}

void TreeCollector::Collect(absl::FunctionRef<void(const TreeUpdate&)> visit) {
  TakeEnded();
  for (ThreadState* state : ended_) {
    if (on_thread_end_) on_thread_end_(*state);
    CollectTree(*state);
    visit({.java_tid = state->tid, .ended = true, .nodes = updates_});
    states_.Retire(*state);
  }
  ended_.clear();
  states_.ForEachLive([&](ThreadState& state) {
    if (IsGrouped(state)) return FoldTree(state);
    CollectTree(state);
    if (!updates_.empty()) visit({.java_tid = state.tid, .nodes = updates_});
  });
  CollectGroups(visit);
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
  if (scale_ != nullptr) FindOpen(state);
  Ref ref = state.root;
  while ((ref = hot::ReadAcquire(At<Node>(arena_, ref)->next)) != 0) visit(*At<Node>(arena_, ref));
}

void TreeCollector::CollectTree(ThreadState& state) {
  updates_.clear();
  ForEachNode(state, [this](Node& node) { CollectNode(node); });
}

void TreeCollector::CollectNode(Node& node) {
  const bool known = node.collected == kDefined || node.collected == kEarlier;
  if (known && ReadCounts(node).calls == node.reported && !TimePassed(node)) return;
  Report(node);
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
  const uint64_t jitted = counts.jitted - std::min(counts.jitted, node.baseline_jitted);
  updates_.push_back({NumberOf(node), At<Node>(arena_, node.parent)->number, node.routine, is_new,
                      calls, std::min(jitted, calls), TimesSinceBaseline(node)});
  if (scale_ != nullptr) {
    const NodeTicks time = ReadTimes(node);
    TimesOf(node).reported = time.base + time.off;
  }
  node.collected = kDefined;
  nodes_reported_ += is_new;
  total_calls_ += counts.calls - node.reported;
  node.reported = counts.calls;
}

void TreeCollector::FoldTree(ThreadState& state) {
  ForEachNode(state, [this](Node& node) { FoldNode(node); });
}

void TreeCollector::FoldNode(Node& node) {
  const Counts counts = ReadCounts(node);
  if (node.collected != kInGroup) PlaceInGroup(node);
  const NodeTicks time = TimesSinceBaseline(node);
  if (counts.calls == node.baseline_calls && time.base + time.off == 0) return;
  forest_.Add(node.number, counts.calls - node.baseline_calls, counts.jitted - node.baseline_jitted,
              time);
  MoveBaseline(node);
  total_calls_ += counts.calls - node.baseline_calls;
  node.baseline_calls = counts.calls;
  node.baseline_jitted = counts.jitted;
}

void TreeCollector::PlaceInGroup(Node& node) {
  const Node& parent = *At<Node>(arena_, node.parent);
  node.number = forest_.Child(parent.number, node.routine, last_number_);
  node.collected = kInGroup;
}

void TreeCollector::BeginFile() {
  states_.ForEachLive([this](ThreadState& state) {
    if (state.group != kOwnTree) return;
    ForEachNode(state, [this](Node& node) {
      if (node.collected != kDefined && node.collected != kEarlier) return;
      node.baseline_calls = node.reported;
      node.baseline_jitted = std::min(ReadRelaxed(node.jitted), node.reported);
      MoveBaseline(node);
      node.collected = kEarlier;
    });
  });
  forest_.BeginFile();
  calls_before_file_ = total_calls_;
}

void TreeCollector::BeginRecording() {
  Poll();
  for (ThreadState* state : ended_) states_.Retire(*state);
  ended_.clear();
  states_.ForEachLive([this](ThreadState& state) {
    if (IsGrouped(state)) return FoldTree(state);
    ForEachNode(state, [this](Node& node) {
      NumberOf(node);
      node.reported = ReadCounts(node).calls;
      if (scale_ != nullptr) TimesOf(node).reported = ReadTimes(node).base + ReadTimes(node).off;
      node.collected = kEarlier;
    });
  });
  total_calls_ = 0;
  nodes_reported_ = 0;
  BeginFile();
}

void TreeCollector::CollectGroups(absl::FunctionRef<void(const TreeUpdate&)> visit) {
  forest_.ForEachChanged([&](uint32_t root, const std::vector<uint32_t>& changed) {
    updates_.clear();
    for (const uint32_t index : changed) {
      const GroupForest::Node& node = forest_.node(index);
      updates_.push_back({node.number, forest_.node(node.parent).number, node.routine, node.is_new,
                          node.calls, node.jitted, node.time});
      nodes_reported_ += node.is_new;
    }
    visit({.group = group_of_root_[root], .members = forest_.members(root), .nodes = updates_});
  });
}

void TreeCollector::FindOpen(const hot::ThreadState& state) {
  open_path_.clear();
  const uint64_t current = ReadRelaxed(state.current);
  const uint64_t mark = ReadRelaxed(state.mark);
  open_node_ = reinterpret_cast<const Node*>(current);
  // Ended activations of the node do not matter: it is open now.
  for (const Node* node = open_node_; node != nullptr && node->parent != 0;
       node = At<Node>(arena_, node->parent)) {
    open_path_.insert(node);
  }
  const uint64_t tick = ReadRelaxed(arena_->tick);
  const uint64_t now = clock_is_coarse_ ? tick : scale_->Now();
  // Where probes run all the time there is no need to know; elsewhere both stay as they are.
  const bool still = ReadRelaxed(state.mark) == mark && ReadRelaxed(state.current) == current;
  open_ticks_ = still && ReadRelaxed(state.log_ring) == 0 && now > mark ? now - mark : 0;
}

NodeTicks TreeCollector::ReadTimes(const Node& node) const {
  if (scale_ == nullptr) return {};
  const NodeTimes& times = TimesOf(node);
  NodeTicks time;
  const uint64_t least = ReadRelaxed(times.least);
  time.greatest = ReadRelaxed(times.greatest);
  time.off = ReadRelaxed(times.off);
  const uint64_t start = ReadRelaxed(times.base_start);
  time.base = ReadRelaxed(times.base);
  const bool is_open = open_path_.contains(&node);
  uint64_t open = is_open && time.base > start ? time.base - start : 0;
  if (&node == open_node_) {
    time.base += open_ticks_;
    open += open_ticks_;
  }
  time.least = least != 0 ? hot::kMostTicks - least : open;
  if (is_open) time.least = std::min(time.least, open);
  if (is_open) time.greatest = std::max(time.greatest, open);
  return time;
}

bool TreeCollector::TimePassed(const Node& node) const {
  if (scale_ == nullptr) return false;
  const NodeTicks time = ReadTimes(node);
  return time.base + time.off != TimesOf(node).reported;
}

NodeTicks TreeCollector::TimesSinceBaseline(const Node& node) const {
  NodeTicks time = ReadTimes(node);
  if (scale_ == nullptr) return time;
  const NodeTimes& times = TimesOf(node);
  time.base -= std::min(time.base, times.baseline_base);
  time.off -= std::min(time.off, times.baseline_off);
  return time;
}

void TreeCollector::MoveBaseline(Node& node) const {
  if (scale_ == nullptr) return;
  const NodeTicks time = ReadTimes(node);
  NodeTimes& times = TimesOf(node);
  times.baseline_base = time.base;
  times.baseline_off = time.off;
}

uint32_t TreeCollector::NumberOf(Node& node) {
  if (node.number == 0) node.number = ++last_number_;
  return node.number;
}

void TreeCollector::Place(Node& node) {
  path_.clear();
  Node* at = &node;
  for (; at->routine != 0 && at->collected == kUnseen; at = At<Node>(arena_, at->parent)) {
    path_.push_back(at);
  }
  if (at->routine == 0 && at->collected == kUnseen) {
    IsGrouped(*(reinterpret_cast<ThreadState*>(at) - 1));
  }
  if (at->collected != kInGroup) return;
  for (; !path_.empty(); path_.pop_back()) PlaceInGroup(*path_.back());
}

Node* TreeCollector::NodeAt(uint64_t raw_node) const {
  const uint64_t offset = raw_node << hot::kGranuleShift;
  if (offset < hot::kFirstChunk || offset >= ReadRelaxed(arena_->next)) return nullptr;
  return At<Node>(arena_, static_cast<Ref>(raw_node));
}

uint32_t TreeCollector::TraceNode(uint64_t raw_node) {
  Node* node = NodeAt(raw_node);
  // Roots have no routine and no number.
  return node == nullptr || node->routine == 0 ? 0 : NameBySample(*node);
}

uint32_t TreeCollector::TraceChild(uint64_t raw_node, uint32_t routine) {
  const Node* parent = NodeAt(raw_node);
  if (parent == nullptr) return 0;
  const uint64_t direct = ReadRelaxed(parent->slots[routine % hot::kSlotCount]);
  const Ref child = hot::IsSlotOf(direct, routine) ? hot::ChildIn(direct)
                                                   : hot::FindInTable(arena_, *parent, routine);
  if (child == 0) return 0;
  Node& node = *At<Node>(arena_, child);
  return node.routine == routine && node.parent == raw_node ? NameBySample(node) : 0;
}

uint32_t TreeCollector::NameBySample(Node& node) {
  if (node.collected == kUnseen) Place(node);
  if (node.collected == kInGroup) return forest_.NumberForSample(node.number);
  if (node.collected != kDefined) node.collected = kNamed;
  return NumberOf(node);
}

uint64_t TreeCollector::lost_calls() const {
  return ReadRelaxed(arena_->lost_node.interpreted) + ReadRelaxed(arena_->lost_node.jitted);
}

}  // namespace jtrace
