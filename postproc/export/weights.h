// What exports measure: the numbers that the nodes of a tree have, with their units. One list for
// all formats, so that they agree with each other and with the reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/calltree/call_tree.h"
#include "postproc/model/trace_model.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// One kind of number, without what callees have of it. A thread's root has no calls.
struct Weight {
  std::string name;     // as --metric takes it: "calls", "ticks", "time", "off", or a metric's name
  std::string unit;     // "count", "ticks", "nanoseconds", "microseconds", "milliseconds", "bytes"
  int64_t unit_ns = 0;  // nanoseconds that 1 stands for; 0: not known, or it is no time
  std::vector<int64_t> values;  // by node; index is NodeId.value - 1
};

// As WrapAdd (call_tree.h).
inline int64_t WrapMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// The names of what any node of the tree has, in the order of WeightsOf; "calls" if there is
// nothing.
std::vector<std::string> WeightNames(const TraceModel& model, const CallTree& tree);

// What the nodes have, and in any case the one that --metric names.
std::vector<Weight> WeightsOf(const ReportInput& input);

// Index of the one that --metric names; without it ticks if there are any, else time, else calls.
size_t PrimaryWeight(const ReportInput& input, const std::vector<Weight>& weights);

}  // namespace jtrace::postproc
