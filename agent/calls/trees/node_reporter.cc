#include "agent/calls/trees/node_reporter.h"

#include "agent/calls/trees/node_state.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using signal_safe::Node;

uint32_t NodeReporter::NumberOf(Node& node) {
  if (IsUnreported(node)) node.number = 0;
  if (node.number == 0) node.number = NewNumber();
  return node.number;
}

void NodeReporter::Report(Node& node) {
  path_.clear();
  signal_safe::RootPath at(arena_, node);
  do {
    path_.push_back(&*at);
  } while (at.Up() && !at.IsAtRoot() && at->collected != kDefined && !IsInGroup(*at));
  for (; !path_.empty(); path_.pop_back()) ReportOne(*path_.back());
}

void NodeReporter::ReportOne(Node& node) {
  const Counts counts = ReadCounts(node);
  const NodeValues read = values_.Read(node);
  const Node& parent = *signal_safe::At<Node>(arena_, node.parent);
  Report({.node = NumberOf(node),
          .parent = parent.collected == kDefined ? parent.number : 0,
          .routine = TraceRoutine(node.routine),
          .is_new = node.collected != kDefined,
          .calls = node.baseline_calls.Until(counts.calls),
          .jitted = JittedSinceBaseline(node, counts),
          .values = values_.SinceBaseline(node, read),
          .caller = TraceRoutine(parent.routine),
          .call_site = signal_safe::CallSiteNumberOf(node.routine)});
  values_.SetReported(node, read);
  const uint64_t new_calls = node.reported.Until(counts.calls);
  if (IsBelowPruned(arena_, node)) totals_.pruned_calls += new_calls;
  totals_.calls += new_calls;
  node.collected = kDefined;
  node.reported = counts.calls;
}

void NodeReporter::Report(const NodeUpdate& update) {
  updates_.push_back(update);
  totals_.nodes_reported += update.is_new;
}

void NodeReporter::ReportDropped(uint32_t number, uint32_t parent, uint32_t routine, bool is_new) {
  updates_.push_back({.node = number,
                      .parent = parent,
                      .routine = routine,
                      .is_new = is_new,
                      .calls = 0,
                      .jitted = 0,
                      .pruned = true});
}

}  // namespace jtrace::calls
