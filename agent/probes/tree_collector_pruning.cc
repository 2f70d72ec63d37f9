// The collector's work when memory is short: selects the nodes to prune, and drops those cut off.
#include <algorithm>
#include <utility>

#include "agent/hot/climb.h"
#include "agent/probes/arena_memory.h"
#include "agent/probes/node_state.h"
#include "agent/probes/tree_collector.h"

namespace jtrace {
namespace {

using hot::At;
using hot::Node;
using hot::Ref;
using hot::ThreadState;

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

void TreeCollector::BeginJudging(const ThreadState& state) {
  // A log names nodes at any time: records in the ring, the open gap, the file's first position.
  // And nobody chooses again before what was chosen is cut off.
  chooses_ =
      is_short_ && hot::ReadRelaxed(state.log_ring) == 0 && hot::ReadAcquire(state.victims) == 0;
  if (chooses_) pruner_.Begin(state);
}

void TreeCollector::Judge(const Node& node) {
  // Those of a granule take a node's memory.
  const uint64_t slots = SlotBytes(*arena_, node);
  kept_bytes_ +=
      values_.node_bytes() + (AreFew(slots) ? slots : std::max(slots, values_.node_bytes()));
  if (blocks_ != nullptr) kept_bytes_ += blocks_->BytesOf(node);
  if (!chooses_) return;
  const uint64_t calls = ReadCounts(node).calls;
  pruner_.Add(hot::RefOf(arena_, &node), node, calls, HasChanged(node, calls));
}

bool TreeCollector::IsGone(const Node& node) const {
  // A list's last node stays in it, while those above it may be removed and reused.
  return IsDropped(node) || (hot::ReadAcquire(node.marks) & hot::kMarkGone) != 0 ||
         IsDropped(*At<Node>(arena_, node.parent));
}

// Trees of which much is dropped at once are deep: a climb for each node would take seconds.
Node& TreeCollector::KeptAbove(const Node& node) const {
  hot::Climb above(arena_, *At<Node>(arena_, node.parent));
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
  const Ref keeper = hot::RefOf(arena_, pruned_.IsFull() ? &RootAbove(kept) : &kept);
  pruned_.MoveUp(hot::RefOf(arena_, &node), keeper, last_number_, [this](uint32_t number) {
    updates_.push_back(DroppedUpdate(number, 0, 0, /*is_new=*/false));
  });
  const PrunedNodes::Sum counted = TakeCounts(node);
  // A [pruned] node of the thread's own counts no calls: its children do.
  if (node.routine != hot::kPrunedRoutine) {
    pruned_.Add(keeper, hot::IdOf(node.routine), counted, last_number_);
  }
  DropNumber(node, kept);
}

Node& TreeCollector::RootAbove(const Node& node) const {
  hot::Climb above(arena_, node);
  while (above.Up()) continue;
  return *above;
}

bool TreeCollector::IsBelowPruned(const Node& node) const {
  return At<Node>(arena_, node.parent)->routine == hot::kPrunedRoutine;
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
  node.number = hot::RefOf(arena_, &kept);
}

void TreeCollector::ReportPruned() {
  pruned_.ForEachChanged([this](Ref keeper, PrunedNodes::Below& below) {
    Node& kept = *At<Node>(arena_, keeper);
    if (kept.routine != 0 && kept.collected != kDefined) Report(kept);
    // A [pruned] node of the thread's own needs no other below it.
    const bool is_pruned = kept.routine == hot::kPrunedRoutine;
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
  hot::WriteRelease(state.victims,
                    static_cast<uint64_t>(reinterpret_cast<uintptr_t>(victims.data())));
}

void TreeCollector::AllowCuts(ThreadState& state, uint32_t count) {
  if (limits_.exit_percent > 0) hot::WriteRelaxed(state.cuts_left, count);
}

void TreeCollector::JudgeMemory() {
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

}  // namespace jtrace
