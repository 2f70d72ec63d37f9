#include "agent/calls/trees/node_dropper.h"

#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::Node;
using signal_safe::Ref;

// Skips dropped nodes by their numbers: in a deep tree a climb for each node would take seconds.
Node& NodeDropper::KeptAbove(const Node& node) const {
  signal_safe::RootPath above(arena_, *At<Node>(arena_, node.parent));
  const auto up = [&] {
    return above->collected == kDropped ? above.To(above->number) : above.Up();
  };
  while (IsDropped(*above) && up()) continue;
  return *above;
}

Node& NodeDropper::RootAbove(const Node& node) const {
  signal_safe::RootPath above(arena_, node);
  while (above.Up()) continue;
  return *above;
}

void NodeDropper::Drop(Node& node) {
  ++reporter_.totals().pruned_nodes;
  if (const Node& parent = *At<Node>(arena_, node.parent); IsInGroup(parent)) {
    groups_.AddNode(node, parent.number);
    groups_.AddBlocks(node);
    blocks_.Forget(node);
    node.collected = kLeftGroup;
    return;
  }
  Node& kept = KeptAbove(node);
  const Ref keeper = signal_safe::RefOf(arena_, sums_.IsFull() ? &RootAbove(kept) : &kept);
  uint32_t& last_number = reporter_.last_number();
  sums_.MoveUp(signal_safe::RefOf(arena_, &node), keeper, last_number,
               [this](uint32_t number) { reporter_.ReportDropped(number); });
  const PrunedTotals::Sum counted = RemoveCounts(node);
  // A [pruned] node in the thread's own tree counts no calls: its children do.
  if (node.routine != signal_safe::kPrunedRoutine) {
    sums_.Add(keeper, signal_safe::IdOf(node.routine), counted, last_number);
  }
  DropNumber(node, kept);
}

PrunedTotals::Sum NodeDropper::RemoveCounts(const Node& node) {
  const Counts counts = ReadCounts(node);
  const bool is_below_pruned = IsBelowPruned(arena_, node);
  const uint64_t new_calls = node.reported.Until(counts.calls);
  const uint64_t calls = node.baseline_calls.Until(counts.calls);
  reporter_.totals().calls += new_calls;
  reporter_.totals().pruned_calls += is_below_pruned ? new_calls : calls;
  PrunedTotals::Sum counted;
  counted.has_extremes = !is_below_pruned;
  counted.calls = calls;
  counted.jitted = JittedSinceBaseline(node, counts);
  counted.values = values_.SinceBaseline(node, values_.ReadClosed(node));
  counted.blocks = blocks_.Remove(node);
  return counted;
}

// Reports the drop if the trace knows the node's number, or a sample in this chunk names it.
void NodeDropper::DropNumber(Node& node, Node& kept) {
  if (node.collected == kDefined) {
    reporter_.ReportDropped(node.number);
  } else if (node.collected == kSampled) {
    if (kept.routine != 0 && kept.collected != kDefined) reporter_.Report(kept);
    reporter_.ReportDropped(node.number, kept.number, TraceRoutine(node.routine), /*is_new=*/true);
  }
  node.collected = kDropped;
  node.number = signal_safe::RefOf(arena_, &kept);
}

void NodeDropper::ReportSums() {
  sums_.ForEachChanged([this](Ref keeper, PrunedTotals::Below& below) {
    ReportBelow(*At<Node>(arena_, keeper), below);
  });
}

void NodeDropper::ReportBelow(Node& kept, PrunedTotals::Below& below) {
  if (kept.routine != 0 && kept.collected != kDefined) reporter_.Report(kept);
  // A [pruned] node in the thread's own tree has the sums as its children.
  const bool is_pruned = kept.routine == signal_safe::kPrunedRoutine;
  if (!is_pruned && below.number == 0) below.number = reporter_.NewNumber();
  const uint32_t number = is_pruned ? kept.number : below.number;
  if (!is_pruned && below.is_new) reporter_.Report({number, kept.number, 0, true, 0, 0});
  for (const uint32_t routine : below.changed) {
    const PrunedTotals::Sum& sum = below.sums.at(routine);
    reporter_.Report(
        {sum.number, number, routine, sum.is_new, sum.calls, sum.jitted, sum.ReportedValues()});
    if (!sum.blocks.empty()) blocks_.ReportSum(sum.number, sum.blocks);
  }
}

}  // namespace jtrace::calls
