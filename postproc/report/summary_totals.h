// The numbers that the summary shows: sums over the tree, all losses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "postproc/model/metric_info.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// Sums over the call tree.
struct Totals {
  int64_t calls = 0;       // of methods
  int64_t boundary = 0;    // calls that left the scope
  int64_t exceptions = 0;  // thrown and caught
  int64_t calls_jitted = 0;
  int64_t cum = 0;
  size_t routines = 0;  // entered by events
};

Totals SumUp(const ReportInput& input);

// A metric and its total.
struct MetricTotal {
  MetricInfo info;
  int64_t total = 0;
};

// Of all metrics that the trace names, over all threads, by name.
std::vector<MetricTotal> MetricTotals(const ReportInput& input);

// Calls out of scope by what their time depends on: the groups that have calls.
struct OutsideGroup {
  std::string_view name;
  OutsideCost cost;
  bool is_charged = true;
};
std::vector<OutsideGroup> OutsideGroups(const ReportInput& input);

// All losses and problems, the agent's own first, errors before warnings.
std::vector<Loss> AllLosses(const ReportInput& input);

}  // namespace jtrace::postproc
