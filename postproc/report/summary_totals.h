// The numbers that the summary shows: sums over the tree, all losses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

// A caller of a hooked function, and its counts.
struct HookCaller {
  std::string_view thread;  // empty: threads are not distinguished
  std::string_view java;    // the thread's routine; empty: at its root, or not known
  std::string native;       // "libjvm.so!os::malloc"; empty: unknown
  HookSums sums;
};

// All hooks of a function, or of a Java method, with the same kind.
struct HookTotal {
  std::string name;  // "libc.so.6!malloc"
  HookKind kind = HookKind::kCount;
  bool is_method = false;           // of Java, counted by probes
  std::string pattern;              // what the user requested; several are separated by ";"
  HookSums sums;                    // over all callers
  std::vector<HookCaller> callers;  // empty: never called
};

// Hooks, and the callers of each, by calls descending, then names.
std::vector<HookTotal> HookTotals(const ReportInput& input);
// Calls of all hooks together.
int64_t HookedCalls(const std::vector<HookTotal>& hooks);

}  // namespace jtrace::postproc
