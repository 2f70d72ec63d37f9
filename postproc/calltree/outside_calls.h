// Calls that leave the instrumented scope, and calls of native methods (boundary=on): whose time
// they are, and what they cost by group (S4.2, S4.13, S4.14).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/reroot.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// A node of such calls: counted by events as a call, a native method or a park.
bool IsOutsideCall(const TraceModel& model, const CallNode& node);

// Fills outside_calls and outside_time of all nodes. Time is in the trace's unit: what the agent
// measured around the calls (outside.ns), else the clock's; none while a call waits for the user.
void NoteOutsideCalls(const TraceModel& model, CallTree& tree);

// Adds the cycles of these calls, by the table of costs, to a metric of their nodes. The virtual
// cost of a whole run (S4.1) is this and the cycles of the bytecode instructions: their metric is
// the `into` that adds the two.
void AddOutsideCycles(const TraceModel& model, MetricId into, CallTree& tree);
inline constexpr char kOutsideCycles[] = "outside.cycles";

// What the calls of one group cost.
struct OutsideCost {
  int64_t calls = 0;
  int64_t time = 0;  // as CallNode::outside_time
  int64_t cycles = 0;
};
// By RoutineCost.
using OutsideCosts = std::array<OutsideCost, kRoutineCosts>;
OutsideCosts SumUpOutsideCalls(const TraceModel& model, const CallTree& tree);

// The tree without nodes of such calls: their time, ticks and metrics, with those of sampled
// frames below them, are their caller's own, and what they call back is called by it.
RerootedTree FoldOutsideCalls(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                              const TraceModel& model);

}  // namespace jtrace::postproc
