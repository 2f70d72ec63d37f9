// A number that every node of a call tree has, with its sums over subtrees: calls, ticks, times, a
// metric. The one definition of a node's value, for reports, exports, the call graph and
// comparisons; --metric chooses it. No I/O, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/calltree/call_tree.h"
#include "postproc/model/metric_info.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

struct Measure {
  enum class Kind : uint8_t { kCalls, kTicks, kTime, kOff, kMetric };

  Kind kind = Kind::kCalls;
  std::string name;  // as in --metric: "calls", "ticks", "time", "off", or a metric's name
  MetricUnit unit = MetricUnit::kCount;  // of a metric
  bool is_chosen = false;                // --metric named it
  // By node, without and with callees; index is NodeId.value - 1. A thread's root has no calls.
  PrefixColumn<int64_t> base;
  PrefixColumn<int64_t> cum;
  int64_t whole = 0;          // over all nodes
  bool has_negative = false;  // some base or cum is below 0

  int64_t Base(NodeId id) const { return base[id.value - 1]; }
  int64_t Cum(NodeId id) const { return cum[id.value - 1]; }
  // Whether it shows more than the calls that reports show anyway.
  bool is_more_than_calls() const { return kind != Kind::kCalls || is_chosen; }
};

// Nodes from this index on have no values but calls, and perhaps extremes: most nodes of a great
// tree.
size_t EndOfValues(const CallTree& tree, const TreeTotals& totals, const Measure& measure);

// The trace's metrics in the order of their names: the order of columns must not depend on which
// one a program happened to need first.
std::vector<MetricId> MetricsByName(const TraceModel& model);

// The names of the measures that any node of the tree has: calls, ticks, time, off, then metrics by
// name; "calls" if there are none. A metric with one of the first four names follows it.
std::vector<std::string> MeasureNames(const TraceModel& model, const CallTree& tree);

// By name; all zero if no node has it.
Measure MakeMeasure(std::string_view name, const TraceModel& model, const CallTree& tree);

// The one that `metric` names; if it is empty, ticks if there are any, else time, else calls.
Measure ChooseMeasure(std::string_view metric, const TraceModel& model, const CallTree& tree);

}  // namespace jtrace::postproc
